#include "trace_testing.h"

namespace allot {
namespace {

std::string PhillyJoinedRows(const std::string& rows) {
  return "job_index,submit_time,submit_offset_s,duration_s,num_gpus,gpus_per_server,passed,vc\n" +
         rows;
}

TEST(PhillyJoined, ReadsARow) {
  const Workload workload =
      ReadText("philly-joined", PhillyJoinedRows("7,2017-10-30 00:01:45,105,16,8,4+4,1,6214e9\n"
                                                 "8,2017-10-30 00:02:00,120,20,1,1,0,\n"));
  EXPECT_EQ(workload.origin, "2017-10-30 00:01:45");
  ASSERT_EQ(workload.jobs.size(), 2u);
  EXPECT_EQ(workload.jobs[0].id, "7");
  EXPECT_EQ(workload.jobs[0].submit, 0);  // counted from the first job
  EXPECT_EQ(workload.jobs[0].gpus, 8);
  EXPECT_EQ(workload.jobs[0].duration, 16);
  EXPECT_EQ(workload.jobs[0].outcome, Outcome::kPassed);
  EXPECT_EQ(workload.tenants[workload.jobs[0].tenant], "6214e9");
  EXPECT_EQ(workload.jobs[1].submit, 15);
  EXPECT_EQ(workload.jobs[1].outcome, Outcome::kUnreported);
  EXPECT_EQ(workload.jobs[1].tenant, -1);
}

TEST(PhillyJoined, UsersAndHowFailedJobsEnded) {
  const Workload workload = ReadText(
      "philly-joined",
      "job_index,submit_time,submit_offset_s,duration_s,num_gpus,gpus_per_server,passed,vc,user,"
      "status\n"
      "1,2017-10-30 00:00:00,0,9,1,1,0,,u7,Failed\n2,2017-10-30 00:00:01,1,9,1,1,0,,u7,Pass\n"
      "3,2017-10-30 00:00:02,2,9,1,1,1,a,,Killed\n");
  ASSERT_EQ(workload.jobs.size(), 3u);
  EXPECT_EQ(workload.users[workload.jobs[0].user], "u7");
  EXPECT_EQ(workload.jobs[0].outcome, Outcome::kFailed);
  EXPECT_EQ(workload.jobs[1].outcome, Outcome::kUnreported);  // the last attempt did, the job not
  EXPECT_EQ(workload.jobs[2].outcome, Outcome::kPassed);
  EXPECT_EQ(workload.jobs[2].user, -1);
}

TEST(PhillyJoined, RowsWithoutRunTimeAreDroppedAndCounted) {
  ReadReport report;
  const Workload workload = ReadText("philly-joined",
                                     PhillyJoinedRows("7,2017-10-30 00:01:45,105,0,1,1,0,\n"
                                                      "8,2017-10-30 00:02:00,120,20,1,1,0,\n"),
                                     false, &report);
  EXPECT_EQ(workload.jobs.size(), 1u);
  EXPECT_EQ(report.rows, 2);
  ASSERT_EQ(report.drops.size(), 1u);
  EXPECT_EQ(report.drops[0].reason, "run time is 0 s");
  EXPECT_EQ(report.drops[0].example, "t.csv:2");
}

TEST(PhillyJoined, BadInputNamesRuleValueAndPlace) {
  const std::string good = "7,2017-10-30 00:01:45,105,16,1,1,1,\n";
  ExpectBadData(
      "philly-joined",
      {
          {"missing column",
           "job_index,submit_time,submit_offset_s,duration_s,num_gpus,gpus_per_server,passed\n",
           {"'vc' is required", "job_index", "t.csv:1"}},
          {"extra column",
           "job_index,submit_time,submit_offset_s,duration_s,num_gpus,gpus_per_server,passed,vc,"
           "colour\n",
           {"'colour'", "known", "t.csv:1"}},
          {"submit time",
           PhillyJoinedRows("7,2017-10-32 00:01:45,105,16,1,1,1,\n"),
           {"'submit_time' must be like", "'2017-10-32 00:01:45'", "t.csv:2"}},
          {"offset of another time",
           PhillyJoinedRows(good + "8,2017-10-30 00:02:45,104,16,1,1,1,\n"),
           {"'submit_offset_s' must count from one time", "'104'", "t.csv:3"}},
          {"NaN offset",
           PhillyJoinedRows("7,2017-10-30 00:01:45,nan,16,1,1,1,\n"),
           {"'submit_offset_s' must be a finite number", "'nan'", "t.csv:2"}},
          {"negative duration",
           PhillyJoinedRows("7,2017-10-30 00:01:45,105,-16,1,1,1,\n"),
           {"duration must be > 0", "got -16", "t.csv:2"}},
          {"infinite duration",
           PhillyJoinedRows("7,2017-10-30 00:01:45,105,inf,1,1,1,\n"),
           {"'duration_s' must be a finite number", "'inf'", "t.csv:2"}},
          {"zero GPUs",
           PhillyJoinedRows("7,2017-10-30 00:01:45,105,16,0,0,1,\n"),
           {"'num_gpus' must be a whole number from 1", "'0'", "t.csv:2"}},
          {"servers do not add up",
           PhillyJoinedRows("7,2017-10-30 00:01:45,105,16,8,4+2,1,\n"),
           {"'gpus_per_server' must add up", "'4+2' with 8", "t.csv:2"}},
          {"passed",
           PhillyJoinedRows("7,2017-10-30 00:01:45,105,16,1,1,yes,\n"),
           {"'passed' must be a whole number from 0 to 1", "'yes'", "t.csv:2"}},
          {"duplicate id",
           PhillyJoinedRows(good + good),
           {"unique", "'7' on lines 2 and 3", "t.csv:3"}},
          {"empty file", "", {"header job_index", "no line", "t.csv:1"}},
          {"garbage", "\xfe\xfe\xfe", {"UTF-8", "0xfe", "t.csv:1"}},
          {"short row", PhillyJoinedRows("7,2017-10-30\n"), {"8 fields", "got 2", "t.csv:2"}},
      });
}

TEST(PhillyJoined, LenientDropsMalformedRows) {
  ReadReport report;
  const Workload workload =
      ReadText("philly-joined",
               PhillyJoinedRows("7,never,105,16,1,1,1,\n8,2017-10-30 00:02:00,120,20,1,1,0,\n"),
               true, &report);
  EXPECT_EQ(workload.jobs.size(), 1u);
  EXPECT_EQ(report.dropped(), 1);
}

}  // namespace
}  // namespace allot
