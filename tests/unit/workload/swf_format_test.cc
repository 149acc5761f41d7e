#include <sstream>

#include "trace_testing.h"
#include "workload/write_swf.h"

namespace allot {
namespace {

// A line of SWF in which only the named fields are known.
struct SwfRow {
  int job = 1;
  double submit = 0, wait = 0, run = 60;
  int allocated = 1, requested = 1;
  double limit = -1;
  int status = 1, user = 1, group = -1, executable = -1, queue = -1, partition = -1;

  std::string text() const {
    return fmt::format("{} {} {} {} {} -1 -1 {} {} -1 {} {} {} {} {} {} -1 -1\n", job, submit, wait,
                       run, allocated, requested, limit, status, user, group, executable, queue,
                       partition);
  }
};

TEST(Swf, ReadsTheCase) {
  ReadReport report;
  const Workload workload =
      ReadTrace(std::string(ALLOT_TEST_DATA) + "/cases/swf.txt", "auto", {}, &report);
  EXPECT_EQ(report.format, "swf");
  EXPECT_EQ(workload.origin, "2001-09-09 01:46:40");
  ASSERT_EQ(workload.jobs.size(), 2u);
  const Job& first = workload.jobs[0];
  EXPECT_EQ(first.id, "1");
  EXPECT_EQ(first.submit, 0);
  EXPECT_EQ(first.recorded_wait, 10);
  EXPECT_EQ(first.duration, 3600);
  EXPECT_EQ(first.gpus, 4);
  EXPECT_EQ(first.user_estimate, 7200);
  EXPECT_EQ(first.outcome, Outcome::kPassed);
  EXPECT_EQ(workload.users[first.user], "1");
  EXPECT_EQ(workload.tenants[first.tenant], "1");
  EXPECT_EQ(first.group, -1);
  EXPECT_EQ(workload.jobs[1].submit, 60);
  EXPECT_EQ(Drops(report), "1 run time is 0 s");
  ASSERT_EQ(report.notes.size(), 2u);
  EXPECT_NE(report.notes[0].find("each of them counts as one GPU"), std::string::npos);
  EXPECT_NE(report.notes[1].find("--cluster 128x1"), std::string::npos);
}

TEST(Swf, CountsWhatIsNoJob) {
  ReadReport report;
  const Workload workload =
      ReadText("swf",
               SwfRow{.job = 1, .allocated = -1, .requested = 8}.text() +  // what it asked for
                   SwfRow{.job = 2, .allocated = 0, .requested = 4}.text() +
                   SwfRow{.job = 3, .allocated = -1, .requested = -1}.text() +
                   SwfRow{.job = 4, .allocated = 0, .requested = 0}.text() +
                   SwfRow{.job = 5, .wait = -1, .run = -1, .status = 5}
                       .text() +  // cancelled while it waited
                   SwfRow{.job = 6, .run = -1}.text() +
                   SwfRow{.job = 7, .submit = -1}.text() + SwfRow{.job = 8, .wait = -1}.text() +
                   SwfRow{.job = 8, .status = 2}.text() + SwfRow{.job = 8, .status = 3}.text(),
               false, &report);
  ASSERT_EQ(workload.jobs.size(), 3u);
  EXPECT_EQ(workload.jobs[0].gpus, 8);
  EXPECT_EQ(workload.jobs[1].gpus, 4);
  EXPECT_LT(workload.jobs[2].recorded_wait, 0);
  EXPECT_EQ(Drops(report),
            "2 no GPU requested; 1 never started; 1 no run time; 1 no submit time; 2 a part of a "
            "job that was swapped out (its summary line counts)");
  EXPECT_EQ(report.rows, 10);
}

TEST(Swf, OutcomesNamesAndNegativeWaits) {
  ReadReport report;
  const Workload workload =
      ReadText("swf",
               "; Queue: 2 long jobs\n" + SwfRow{.job = 1, .status = 0, .queue = 2}.text() +
                   SwfRow{.job = 2, .status = 5, .executable = 7, .partition = 3}.text() +
                   SwfRow{.job = 3, .wait = -30, .status = -1, .user = -1, .group = 4}.text() +
                   SwfRow{.job = 4, .status = 9}.text(),
               false, &report);
  ASSERT_EQ(workload.jobs.size(), 4u);
  EXPECT_EQ(workload.origin, "");
  EXPECT_EQ(workload.jobs[0].outcome, Outcome::kFailed);
  EXPECT_EQ(workload.tenants[workload.jobs[0].tenant], "long jobs");
  EXPECT_EQ(workload.jobs[1].outcome, Outcome::kKilled);
  EXPECT_EQ(workload.tenants[workload.jobs[1].tenant], "3");
  EXPECT_EQ(workload.groups[workload.jobs[1].group], "7");
  EXPECT_EQ(workload.jobs[2].outcome, Outcome::kUnreported);
  EXPECT_EQ(workload.jobs[2].user, -1);
  EXPECT_EQ(workload.tenants[workload.jobs[2].tenant], "4");
  EXPECT_EQ(workload.jobs[2].recorded_wait, 0);
  EXPECT_EQ(workload.jobs[3].outcome, Outcome::kUnreported);
  EXPECT_EQ(Adjustments(report),
            "1 started before it was submitted: its wait counts as 0; 1 a status that SWF does not "
            "define: not reported");
}

TEST(Swf, IsDetectedByItsContent) {
  const std::string row = SwfRow{}.text();
  for (const std::string& text :
       std::vector<std::string>{row, "\n" + row, "; a comment\n" + row,
                                "; Version: 2\r\n;\r\n" + row, ";MaxProcs: 4\n1 2 3\n",
                                "1\t0\t0\t5\t1\t-1\t-1\t1\t9\t-1\t1\t1\t1\t-1\t1\t-1\t-1\t-1\n"}) {
    const TraceFormat* const format = DetectTraceFormat(text);
    ASSERT_NE(format, nullptr) << text;
    EXPECT_EQ(format->id, "swf") << text;
  }
  for (const std::string& text : {std::string("; a comment\n"), std::string("1 2 3\n")}) {
    EXPECT_EQ(DetectTraceFormat(text), nullptr) << text;
  }
}

TEST(Swf, BadInputNamesRuleValueAndPlace) {
  ExpectBadData(
      "swf",
      {{"fields", "; Version: 2\n" + SwfRow{}.text() + "2 0 0 5\n", {"18 fields", "4", ":3"}},
       {"number", "a" + SwfRow{}.text(), {"field 1 (job number)", "'a1'", "t.csv:1"}},
       {"negative", SwfRow{.run = -5}.text(), {"field 4 (run time)", "-1 where", "-5"}},
       {"half a processor",
        "1 0 0 5 1.5 -1 -1 1 9 -1 1 1 1 -1 1 -1 -1 -1\n",
        {"field 5 (allocated processors)", "whole number", "1.5"}},
       {"twice", SwfRow{}.text() + SwfRow{}.text(), {"unique", "lines 1 and 2"}},
       {"start", "; UnixStartTime: soon\n" + SwfRow{}.text(), {"1970", "'soon'", "t.csv:1"}}});
}

TEST(Swf, WrittenJobsReadBack) {
  Workload workload;
  workload.origin = "2026-10-01 00:00:00";
  for (int i = 0; i < 8; ++i) {
    Job job;
    job.id = std::to_string(10 + i);
    job.submit = 100.0 * i;
    job.gpus = 1 + i;
    job.duration = 60 + i;
    job.recorded_wait = i % 2 == 0 ? 5 * i : -1;
    job.user_estimate = i % 3 == 0 ? 0 : 600;
    job.outcome = static_cast<Outcome>(i % 4);
    job.user = workload.users.Intern(i < 4 ? "ann b" : "7");
    job.group = i == 5 ? -1 : workload.groups.Intern("12");
    job.tenant = workload.tenants.Intern(i % 2 == 0 ? "gpu" : "cpu");
    workload.jobs.push_back(job);
  }
  std::ostringstream out;
  EXPECT_TRUE(WriteSwf(workload, SwfMachine{4, 32}, out).empty());
  ReadReport report;
  const Workload again = ReadText("swf", out.str(), false, &report);
  EXPECT_EQ(again.origin, workload.origin);
  EXPECT_NE(out.str().find("; MaxProcs: 32\n"), std::string::npos);
  ASSERT_EQ(again.jobs.size(), workload.jobs.size());
  for (std::size_t i = 0; i < again.jobs.size(); ++i) {
    SCOPED_TRACE(i);
    const Job &a = workload.jobs[i], &b = again.jobs[i];
    EXPECT_EQ(a.id, b.id);
    EXPECT_EQ(a.submit, b.submit);
    EXPECT_EQ(a.gpus, b.gpus);
    EXPECT_EQ(a.duration, b.duration);
    EXPECT_EQ(a.recorded_wait, b.recorded_wait);
    EXPECT_EQ(a.user_estimate, b.user_estimate);
    EXPECT_EQ(a.outcome, b.outcome);
    EXPECT_EQ(workload.users[a.user], again.users[b.user]);
    EXPECT_EQ(workload.groups[a.group], again.groups[b.group]);
    EXPECT_EQ(workload.tenants[a.tenant], again.tenants[b.tenant]);
  }
}

TEST(Swf, JobsThatHadNotEndedHaveNoRunTime) {
  Workload workload;
  Job job;
  job.id = "1";
  job.duration = 500;  // drawn
  job.outcome = Outcome::kRunning;
  workload.jobs.push_back(job);
  std::ostringstream out;
  const auto notes = WriteSwf(workload, std::nullopt, out);
  EXPECT_NE(out.str().find("\n1 0 -1 -1 1 "), std::string::npos) << out.str();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("1 of the jobs had not ended"), std::string::npos);
}

TEST(Swf, WhatTheFormatCannotHoldIsSaid) {
  Workload workload;
  Job job;
  job.id = "train-a";
  job.duration = 0.2;
  job.user_estimate = 90.5;
  job.deadline = 100;
  job.model = workload.models.Intern("resnet50");
  workload.jobs.push_back(job);
  std::ostringstream out;
  const auto notes = WriteSwf(workload, std::nullopt, out);
  EXPECT_NE(out.str().find("\n1 0 -1 1 1 -1 -1 1 91 -1 -1 -1 -1 -1 -1 -1 -1 -1\n"),
            std::string::npos)
      << out.str();
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_NE(notes[0].find("ids are left out"), std::string::npos);
  EXPECT_NE(notes[1].find("times of 1 of the jobs are rounded"), std::string::npos);
  EXPECT_NE(notes[2].find("model (1 of the jobs), deadline (1 of the jobs)"), std::string::npos);
}

}  // namespace
}  // namespace allot
