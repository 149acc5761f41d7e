#include "trace_testing.h"

namespace allot {
namespace {

std::string PhillyPassRows(const std::string& rows) {
  return "timestamp,duration,num_gpus,gpu_time,cluster\n" + rows;
}

TEST(PhillyPass, ReadsARowAndSortsByTime) {
  const Workload workload =
      ReadText("philly-pass", PhillyPassRows("2017-10-09 07:01:55,66.0,1,66.0,11cb48\n"
                                             "2017-10-09 06:13:03,2951.5,2,5903.0,6214e9\n"));
  EXPECT_EQ(workload.origin, "2017-10-09 06:13:03");
  ASSERT_EQ(workload.jobs.size(), 2u);
  EXPECT_EQ(workload.jobs[0].id, "1");  // rows are the only names
  EXPECT_EQ(workload.jobs[0].gpus, 2);
  EXPECT_EQ(workload.jobs[0].duration, 2951.5);
  EXPECT_EQ(workload.jobs[0].outcome, Outcome::kPassed);
  EXPECT_EQ(workload.tenants[workload.jobs[0].tenant], "6214e9");
}

TEST(PhillyPass, GpuTimeMustAgree) {
  ExpectBadData("philly-pass", {{"gpu_time",
                                 PhillyPassRows("2017-10-09 07:01:55,66.0,2,66.0,11cb48\n"),
                                 {"'gpu_time' must be", "66 with 2 x 66", "t.csv:2"}}});
}

}  // namespace
}  // namespace allot
