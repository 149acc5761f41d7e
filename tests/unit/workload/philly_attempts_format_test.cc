#include "trace_testing.h"
#include "workload/calendar.h"

namespace allot {
namespace {

std::string PhillyAttemptsRows(const std::string& rows) {
  return ",run_time,wait_time,submit_time,gpu_num\n" + rows;
}

// The epoch of a US Eastern time: the first is in summer time, the second not.
TEST(PhillyAttempts, TimesOfDayAreTheLogsOwn) {
  const Workload workload =
      ReadText("philly-attempts", PhillyAttemptsRows("0,100,0,1509850800,8\n"     // 23:00 EDT
                                                     "7,60,12,1510009200,1\n"));  // 18:00 EST
  EXPECT_EQ(workload.origin, "2017-11-04 23:00:00");
  ASSERT_EQ(workload.jobs.size(), 2u);
  EXPECT_EQ(workload.jobs[0].gpus, 8);
  EXPECT_EQ(workload.jobs[0].duration, 100);
  EXPECT_EQ(workload.jobs[1].id, "7");
  EXPECT_EQ(workload.jobs[1].submit, ParseWhen(workload, "2017-11-06 18:00:00"));
}

TEST(PhillyAttempts, BadInputNamesRuleValueAndPlace) {
  ExpectBadData(
      "philly-attempts",
      {{"no GPU", PhillyAttemptsRows("0,100,0,1509850800,0\n"), {"'gpu_num'", "'0'", "t.csv:2"}}});
}

}  // namespace
}  // namespace allot
