#include "trace_testing.h"

namespace allot {
namespace {

std::string OpenbRows(const std::string& rows) {
  return "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
         "deletion_time,scheduled_time\n" +
         rows;
}

TEST(Openb, ReadsARow) {
  const Workload workload =
      ReadText("openb", OpenbRows("p0,12000,16384,8,1000,V100M16|V100M32,LS,Succeeded,5,250,50\n"
                                  "p1,12000,16384,1,1000,,BE,Failed,6,250,50\n"));
  ASSERT_EQ(workload.jobs.size(), 2u);
  EXPECT_EQ(workload.jobs[0].id, "p0");
  EXPECT_EQ(workload.jobs[0].submit, 5);
  EXPECT_EQ(workload.jobs[0].gpus, 8);
  EXPECT_EQ(workload.jobs[0].duration, 200);
  EXPECT_EQ(workload.jobs[0].outcome, Outcome::kPassed);
  EXPECT_EQ(workload.jobs[1].outcome, Outcome::kFailed);
  EXPECT_EQ(workload.gpu_types[workload.jobs[0].gpu_types], "V100M16|V100M32");
  EXPECT_EQ(workload.jobs[0].memory_gb, 16);
  EXPECT_EQ(workload.jobs[1].gpu_types, -1);                        // any
  EXPECT_GT(workload.jobs[0].priority, workload.jobs[1].priority);  // best effort gives way
}

TEST(Openb, CountsWhatIsDroppedAndWhatIsAdjusted) {
  ReadReport report;
  const Workload workload = ReadText("openb",
                                     OpenbRows("cpu,1,1,0,0,,LS,Running,0,9,0\n"
                                               "waits,1,1,1,1000,,LS,Pending,0,9,\n"
                                               "brief,1,1,1,460,,LS,Failed,0,9,9\n"
                                               "part,1,1,1,460,,LS,Running,0,9,0\n"),
                                     false, &report);
  EXPECT_EQ(Drops(report), "1 no GPU requested; 1 never started; 1 run time is 0 s");
  EXPECT_EQ(Adjustments(report),
            "1 a part of a GPU counted as a whole one; 1 still running when the trace ended: run "
            "time up to there");
  EXPECT_EQ(workload.jobs[0].gpus, 1);
}

TEST(Openb, BadInputNamesRuleValueAndPlace) {
  ExpectBadData("openb", {{"phase",
                           OpenbRows("p0,1,1,1,1000,,LS,Gone,0,9,0\n"),
                           {"'pod_phase' must be", "'Gone'", "t.csv:2"}},
                          {"deleted before it was scheduled",
                           OpenbRows("p0,1,1,1,1000,,LS,Failed,0,9,19\n"),
                           {"duration must be > 0", "-10", "t.csv:2"}}});
}

}  // namespace
}  // namespace allot
