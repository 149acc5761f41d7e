#include "trace_testing.h"

namespace allot {
namespace {

std::string SpotRows(const std::string& rows) {
  return "job_name,organization,gpu_model,cpu_request,gpu_request,worker_num,submit_time,duration,"
         "job_type\n" +
         rows;
}

TEST(Spot, AGangIsOneJob) {
  ReadReport report;
  const Workload workload = ReadText("spot",
                                     SpotRows("437260,57,A100,15,8,16,95,41060,HP\n"
                                              "437261,57,A100,15,0.5,3,96,71718,Spot\n"
                                              "437262,57,A100,15,0,3,97,71718,Spot\n"),
                                     false, &report);
  ASSERT_EQ(workload.jobs.size(), 2u);
  EXPECT_EQ(workload.jobs[0].gpus, 128);
  EXPECT_EQ(workload.jobs[0].duration, 41060);
  EXPECT_EQ(workload.tenants[workload.jobs[0].tenant], "57");
  EXPECT_EQ(workload.jobs[1].gpus, 2);
  EXPECT_GT(workload.jobs[0].priority, workload.jobs[1].priority);
  EXPECT_EQ(Drops(report), "1 no GPU requested");
  EXPECT_EQ(Adjustments(report), "1 a part of a GPU counted as a whole one");
}

TEST(Spot, BadInputNamesRuleValueAndPlace) {
  ExpectBadData("spot", {{"type",
                          SpotRows("1,57,A100,15,8,16,95,41060,Cheap\n"),
                          {"'job_type' must be HP or Spot", "'Cheap'", "t.csv:2"}},
                         {"too many",
                          SpotRows("1,57,A100,15,8,1000000,95,41060,HP\n"),
                          {"'gpu_request' x 'worker_num'", "8 x 1000000", "t.csv:2"}}});
}

}  // namespace
}  // namespace allot
