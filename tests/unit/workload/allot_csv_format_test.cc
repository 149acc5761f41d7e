#include "trace_testing.h"

namespace allot {
namespace {

constexpr const char* kHeader = "job_id,submit_s,gpus,duration_s\n";

std::string AllotRows(const std::string& rows) { return kHeader + rows; }

TEST(AllotCsv, ReadsEveryColumn) {
  const Workload workload = ReadText("allot",
                                     "outcome,deadline_s,priority,user,tenant,work,model,max_gpus,"
                                     "min_gpus,duration_s,gpus,submit_s,job_id\n"
                                     "killed,500.5,-2,ann,vision,1e3,resnet,8,1,60,4,0.25,j1\n");
  ASSERT_EQ(workload.jobs.size(), 1u);
  const Job& job = workload.jobs[0];
  EXPECT_EQ(job.id, "j1");
  EXPECT_EQ(job.submit, 0.25);
  EXPECT_EQ(job.gpus, 4);
  EXPECT_EQ(job.duration, 60);
  EXPECT_EQ(job.min_gpus, 1);
  EXPECT_EQ(job.max_gpus, 8);
  EXPECT_EQ(workload.models[job.model], "resnet");
  EXPECT_EQ(job.work, 1000);
  EXPECT_EQ(workload.tenants[job.tenant], "vision");
  EXPECT_EQ(workload.users[job.user], "ann");
  EXPECT_EQ(job.priority, -2);
  EXPECT_EQ(job.deadline, 500.5);
  EXPECT_EQ(job.outcome, Outcome::kKilled);
}

TEST(AllotCsv, ReadsHowJobsCommunicate) {
  const Workload workload =
      ReadText("allot",
               "job_id,submit_s,gpus,duration_s,comm_share,pattern\na,0,8,60,0.25,all-to-all\n"
               "b,1,8,60,,\n");
  EXPECT_EQ(workload.jobs[0].communication,
            (Communication{0.25F, CommunicationPattern::kAllToAll}));
  EXPECT_EQ(workload.jobs[1].communication, Communication{});
}

TEST(AllotCsv, EmptyOptionalFieldsAreDefaults) {
  const Job job =
      ReadText("allot",
               "job_id,submit_s,gpus,duration_s,min_gpus,max_gpus,model,work,tenant,user,"
               "priority,deadline_s,outcome\nj,0,2,9,,,,,,,,,\n")
          .jobs.at(0);
  EXPECT_TRUE(job.rigid());
  EXPECT_EQ(job.model, -1);
  EXPECT_EQ(job.tenant, -1);
  EXPECT_EQ(job.user, -1);
  EXPECT_EQ(job.work, 0);
  EXPECT_EQ(job.deadline, kNever);
  EXPECT_EQ(job.outcome, Outcome::kUnreported);
}

TEST(AllotCsv, RowsMayStandInAnyOrder) {
  const Workload workload = ReadText("allot", AllotRows("b,9,1,1\na,3,1,1\n"));
  EXPECT_EQ(workload.jobs[0].id, "a");
  EXPECT_EQ(workload.jobs[0].submit, 3);  // submit times are taken as they are
}

TEST(AllotCsv, BadInputNamesRuleValueAndPlace) {
  ExpectBadData(
      "allot",
      {
          {"missing column",
           "job_id,submit_s,gpus\na,0,1\n",
           {"'duration_s' is required", "job_id,submit_s,gpus", "t.csv:1"}},
          {"extra column",
           "job_id,submit_s,gpus,duration_s,tennant\n",
           {"'tennant'", "did you mean 'tenant'", "t.csv:1"}},
          {"short row", AllotRows("a,0,1\n"), {"4 fields", "got 3", "t.csv:2"}},
          {"negative submit",
           AllotRows("a,0,1,5\nb,-3,1,5\n"),
           {"submit time must be from 0", "got -3", "t.csv:3"}},
          {"NaN submit",
           AllotRows("a,nan,1,5\n"),
           {"'submit_s' must be a finite number", "'nan'", "t.csv:2"}},
          {"infinite duration",
           AllotRows("a,0,1,inf\n"),
           {"'duration_s' must be a finite number", "'inf'", "t.csv:2"}},
          {"negative duration",
           AllotRows("a,0,1,-5\n"),
           {"duration must be > 0", "got -5", "t.csv:2"}},
          {"zero duration", AllotRows("a,0,1,0\n"), {"duration must be > 0", "got 0", "t.csv:2"}},
          {"zero GPUs",
           AllotRows("a,0,0,5\n"),
           {"'gpus' must be a whole number from 1", "'0'", "t.csv:2"}},
          {"half a GPU",
           AllotRows("a,0,0.5,5\n"),
           {"'gpus' must be a whole number", "'0.5'", "t.csv:2"}},
          {"empty id", AllotRows(",0,1,5\n"), {"id must not be empty", "''", "t.csv:2"}},
          {"duplicate id",
           AllotRows("a,0,1,5\nb,0,1,5\na,1,1,5\n"),
           {"unique", "'a' on lines 2 and 4", "t.csv:4"}},
          {"empty file", "", {"header job_id", "no line", "t.csv:1"}},
          {"garbage", std::string("\x80\x81\x00\xff", 4), {"UTF-8", "0x80", "t.csv:1"}},
          {"open quote",
           AllotRows("\"a,0,1,5\n"),
           {"must be closed", "end of the file", "t.csv:2"}},
          {"limits",
           "job_id,submit_s,gpus,duration_s,min_gpus\na,0,2,5,3\n",
           {"min_gpus must be", "3 with 2 gpus", "t.csv:2"}},
          {"deadline",
           "job_id,submit_s,gpus,duration_s,deadline_s\na,7,2,5,6\n",
           {"deadline must be after", "6 with submit 7", "t.csv:2"}},
          {"outcome",
           "job_id,submit_s,gpus,duration_s,outcome\na,7,2,5,ok\n",
           {"'outcome' must be one of", "passed, failed", "'ok'", "t.csv:2"}},
      });
}

TEST(AllotCsv, LenientDropsAndCountsAlikeErrorsTogether) {
  ReadReport report;
  const Workload workload = ReadText(
      "allot", AllotRows("a,x,1,5\nb,0,1,5\nc,y,1,5\nd,0,0,5\ne,0,1\nb,3,1,5\n"), true, &report);
  EXPECT_EQ(workload.jobs.size(), 1u);
  EXPECT_EQ(report.rows, 6);
  EXPECT_EQ(report.dropped(), 5);
  ASSERT_EQ(report.drops.size(), 4u);
  EXPECT_EQ(report.drops[0].reason, "malformed: 'submit_s' must be a finite number");
  EXPECT_EQ(report.drops[0].rows, 2);
  EXPECT_EQ(report.drops[0].example, "t.csv:2");
}

TEST(AllotCsv, LenientDoesNotForgiveTheHeader) {
  ExpectError(ExitCode::kBadData, {"is required"}, [] { ReadText("allot", "job_id\na\n", true); });
}

}  // namespace
}  // namespace allot
