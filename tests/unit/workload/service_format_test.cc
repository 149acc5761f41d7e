#include "trace_testing.h"

namespace allot {
namespace {

TEST(Service, ReadsARow) {
  const Workload workload =
      ReadText("service", "job_id,arrival_s,service_sec,gpu_count\n363167#0,60.0,172800.0,32\n");
  ASSERT_EQ(workload.jobs.size(), 1u);
  EXPECT_EQ(workload.jobs[0].id, "363167#0");
  EXPECT_EQ(workload.jobs[0].submit, 60);
  EXPECT_EQ(workload.jobs[0].duration, 172800);
  EXPECT_EQ(workload.jobs[0].gpus, 32);
}

TEST(Service, ReadsUsersAndHowJobsEnded) {
  const Workload workload = ReadText("service",
                                     "job_id,arrival_s,service_sec,gpu_count,user,status\n"
                                     "a,60,17,1,u1,Killed\nb,61,17,1,,\n");
  ASSERT_EQ(workload.jobs.size(), 2u);
  EXPECT_EQ(workload.users[workload.jobs[0].user], "u1");
  EXPECT_EQ(workload.jobs[0].outcome, Outcome::kKilled);
  EXPECT_EQ(workload.jobs[1].user, -1);
  EXPECT_EQ(workload.jobs[1].outcome, Outcome::kUnreported);
}

TEST(Service, BadInputNamesRuleValueAndPlace) {
  ExpectBadData("service", {{"part of a GPU",
                             "job_id,arrival_s,service_sec,gpu_count\na,60.0,17.0,0.5\n",
                             {"'gpu_count' must be a whole number", "'0.5'", "t.csv:2"}},
                            {"status",
                             "job_id,arrival_s,service_sec,gpu_count,status\na,60,17,1,Done\n",
                             {"'status' must be Pass, Failed or Killed", "'Done'", "t.csv:2"}}});
}

}  // namespace
}  // namespace allot
