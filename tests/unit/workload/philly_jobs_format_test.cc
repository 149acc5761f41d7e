#include "trace_testing.h"

namespace allot {
namespace {

std::string PhillyJobsRows(const std::string& rows) {
  return "#job id,arrival time (sec),topology,shape,size,duration (sec)\n" + rows;
}

TEST(PhillyJobs, ReadsARowOnTheLogsCalendar) {
  const Workload workload = ReadText(
      "philly-jobs", PhillyJobsRows("3,60.0,CLOS,8+8,16,1453510.0\n4,93.0,CLOS,1,1,5.0\n"));
  EXPECT_EQ(workload.origin, "2017-08-14 23:28:00");  // a minute after the log's first job
  ASSERT_EQ(workload.jobs.size(), 2u);
  EXPECT_EQ(workload.jobs[0].id, "3");
  EXPECT_EQ(workload.jobs[0].gpus, 16);
  EXPECT_EQ(workload.jobs[0].duration, 1453510);
  EXPECT_EQ(workload.jobs[1].submit, 33);
}

TEST(PhillyJobs, RowsWithoutRunTimeAreDropped) {
  ReadReport report;
  ReadText("philly-jobs", PhillyJobsRows("3,60.0,CLOS,1,1,0.0\n4,93.0,CLOS,1,1,5.0\n"), false,
           &report);
  EXPECT_EQ(Drops(report), "1 run time is 0 s");
}

TEST(PhillyJobs, BadInputNamesRuleValueAndPlace) {
  ExpectBadData("philly-jobs", {
                                   {"servers do not add up",
                                    PhillyJobsRows("3,60.0,CLOS,8+4,16,5\n"),
                                    {"'shape' must add up to 'size'", "'8+4' with 16", "t.csv:2"}},
                                   {"arrival",
                                    PhillyJobsRows("3,soon,CLOS,1,1,5\n"),
                                    {"'arrival time (sec)' must be a finite number", "'soon'"}},
                               });
}

}  // namespace
}  // namespace allot
