#include "trace_testing.h"

namespace allot {
namespace {

TEST(ElasticFlow, ReadsDeadlineAndEstimate) {
  const Workload workload =
      ReadText("elasticflow",
               "job_id,submit_time,real_iteration,model_name,ddl,batch_size,num_gpu,real_duration,"
               "duration,iteration\n"
               "a,10,100,vgg16,771,256,4,500,650,130\n");
  ASSERT_EQ(workload.jobs.size(), 1u);
  const Job& job = workload.jobs[0];
  EXPECT_EQ(job.submit, 10);
  EXPECT_EQ(job.gpus, 4);
  EXPECT_EQ(job.deadline, 771);
  EXPECT_EQ(job.duration, 500);       // what it takes
  EXPECT_EQ(job.user_estimate, 650);  // what the scheduler is told
}

std::string ElasticFlowRows(const std::string& rows) {
  return "job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration\n" + rows;
}

TEST(ElasticFlow, OneDurationIsNoEstimate) {
  const Workload workload =
      ReadText("elasticflow", ElasticFlowRows("a,10,100,vgg16,771,256,4,500\n"));
  EXPECT_EQ(workload.jobs[0].duration, 500);
  EXPECT_EQ(workload.jobs[0].user_estimate, 0);
}

TEST(ElasticFlow, DeadlineBeforeSubmissionIsBadData) {
  ExpectBadData("elasticflow", {{"deadline",
                                 ElasticFlowRows("a,10,100,vgg16,9,256,4,500\n"),
                                 {"deadline must be after", "9 with submit 10", "t.csv:2"}}});
}

}  // namespace
}  // namespace allot
