#include "trace_testing.h"

namespace allot {
namespace {

std::string HeliosRows(const std::string& rows) {
  return "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,"
         "queue\n" +
         rows;
}

TEST(Helios, ReadsARow) {
  const Workload workload = ReadText(
      "helios",
      HeliosRows("1425512,uVMrF,vchbv,4,16,1,FAILED,2020-06-09 18:41:27,2020-06-09 18:41:30,"
                 "2020-06-09 18:45:36,246,3\n"));
  ASSERT_EQ(workload.jobs.size(), 1u);
  const Job& job = workload.jobs[0];
  EXPECT_EQ(workload.origin, "2020-06-09 18:41:27");
  EXPECT_EQ(job.gpus, 4);
  EXPECT_EQ(job.duration, 246);
  EXPECT_EQ(job.outcome, Outcome::kFailed);
  EXPECT_EQ(workload.tenants[job.tenant], "vchbv");
  EXPECT_EQ(workload.users[job.user], "uVMrF");
}

TEST(Helios, StatesBecomeOutcomes) {
  const auto outcome = [](const std::string& state) {
    return ReadText("helios", HeliosRows("1,u,v,1,1,1," + state +
                                         ",2020-06-09 18:41:27,2020-06-09 18:41:27,,9,0\n"))
        .jobs[0]
        .outcome;
  };
  EXPECT_EQ(outcome("COMPLETED"), Outcome::kPassed);
  EXPECT_EQ(outcome("CANCELLED by 1000"), Outcome::kKilled);
  EXPECT_EQ(outcome("TIMEOUT"), Outcome::kFailed);
  EXPECT_EQ(outcome("NODE_FAIL"), Outcome::kFailed);
  EXPECT_EQ(outcome("SUSPENDED"), Outcome::kUnreported);
}

TEST(Helios, DropsWhatIsNoGpuJob) {
  ReadReport report;
  ReadText("helios",
           HeliosRows("1,u,v,0,1,1,COMPLETED,2020-06-09 18:41:27,2020-06-09 18:41:27,,9,0\n"
                      "2,u,v,1,1,1,CANCELLED,2020-06-09 18:41:27,None,None,0,9\n"
                      "3,u,v,1,1,1,FAILED,2020-06-09 18:41:27,2020-06-09 18:41:27,,0,0\n"
                      "4,u,v,1,1,1,FAILED,2020-06-09 18:41:27,2020-06-09 18:41:27,,1,0\n"),
           false, &report);
  EXPECT_EQ(Drops(report), "1 no GPU requested; 1 never started; 1 run time is 0 s");
}

TEST(Helios, BadInputNamesRuleValueAndPlace) {
  ExpectBadData("helios",
                {{"state",
                  HeliosRows("1,u,v,1,1,1,DONE,2020-06-09 18:41:27,2020-06-09 18:41:27,,9,0\n"),
                  {"'state' must be a state of Slurm", "'DONE'", "t.csv:2"}},
                 {"time",
                  HeliosRows("1,u,v,1,1,1,FAILED,yesterday,,,9,0\n"),
                  {"'submit_time'", "'yesterday'"}}});
}

}  // namespace
}  // namespace allot
