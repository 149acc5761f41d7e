#include "trace_testing.h"

namespace allot {
namespace {

std::string MuriRows(const std::string& rows) {
  return "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,"
         "iteration_time,resource_time_0,resource_time_1,resource_time_2,priority\n" +
         rows;
}

TEST(Muri, ReadsMillisecondsAndClasses) {
  const Workload workload =
      ReadText("muri", MuriRows("0,8,1500,10956,gpt2,4,5095000,91000,437,0.6,419,49,0\n"
                                "1,1,2000,1463,vgg16,16,281000,28000,214,82,75,66,1\n"));
  ASSERT_EQ(workload.jobs.size(), 2u);
  EXPECT_EQ(workload.jobs[0].submit, 1.5);
  EXPECT_EQ(workload.jobs[0].gpus, 8);
  EXPECT_EQ(workload.jobs[0].duration, 5095);
  EXPECT_EQ(workload.groups[workload.jobs[0].group], "gpt2");
  EXPECT_GT(workload.jobs[0].priority, workload.jobs[1].priority);  // 0 is the guaranteed class
}

TEST(Muri, BadInputNamesRuleValueAndPlace) {
  ExpectBadData("muri", {{"class",
                          MuriRows("0,8,0,10956,gpt2,4,5095000,91000,437,0.6,419,49,2\n"),
                          {"'priority' must be a whole number from 0 to 1", "'2'", "t.csv:2"}}});
}

}  // namespace
}  // namespace allot
