#include "trace_testing.h"

namespace allot {
namespace {

TEST(Tiresias, ReadsARow) {
  const Workload workload = ReadText("tiresias",
                                     "job_id,num_gpu,submit_time,iterations,model_name,duration,"
                                     "interval\n1,8,30,133,vgg11,147,23\n");
  ASSERT_EQ(workload.jobs.size(), 1u);
  EXPECT_EQ(workload.jobs[0].id, "1");
  EXPECT_EQ(workload.jobs[0].submit, 30);
  EXPECT_EQ(workload.jobs[0].gpus, 8);
  EXPECT_EQ(workload.jobs[0].duration, 147);
  EXPECT_EQ(workload.groups[workload.jobs[0].group], "vgg11");
}

// The simulator's own tf_job.csv lists one job twice.
TEST(Tiresias, RepeatedJobsAreMalformed) {
  const std::string text =
      "job_id,num_gpu,submit_time,start_time,duration,model_size,aggr_interval,model_name,"
      "model_scale\n10,12,11,14,20,400,0,vgg19,1\n10,12,11,14,20,400,0,vgg19,1\n";
  ExpectBadData("tiresias", {{"twice", text, {"unique", "'10' on lines 2 and 3", "t.csv:3"}}});
  EXPECT_EQ(ReadText("tiresias", text, true).jobs.size(), 1u);
}

}  // namespace
}  // namespace allot
