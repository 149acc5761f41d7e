#include <cmath>

#include "trace_testing.h"

namespace allot {
namespace {

constexpr const char* kSacctExports = ALLOT_SOURCE_DIR "/tests/data/exports/";

std::string SacctRows(const std::string& rows) {
  return "JobID|User|Partition|State|Submit|Start|Elapsed|Timelimit|AllocTRES\n" + rows;
}

TEST(Sacct, ReadsWhat2205Prints) {
  ReadReport report;
  const Workload workload =
      ReadTrace(std::string(kSacctExports) + "sacct-22.05.txt", "auto", {}, &report);
  EXPECT_EQ(report.format, "sacct");
  EXPECT_EQ(Drops(report), "5 a step of a job (counted with it); 1 no GPU requested");
  ASSERT_EQ(workload.jobs.size(), 4u);
  EXPECT_EQ(workload.origin, "2022-11-01 08:00:00");
  const Job& first = workload.jobs[0];
  EXPECT_EQ(first.id, "20411");
  EXPECT_EQ(first.gpus, 2);
  EXPECT_EQ(first.duration, 6.5 * 3600);
  EXPECT_EQ(first.recorded_wait, 5);
  EXPECT_EQ(first.user_estimate, 12 * 3600);
  EXPECT_EQ(first.outcome, Outcome::kPassed);
  EXPECT_EQ(workload.users[first.user], "ann");
  EXPECT_EQ(workload.tenants[first.tenant], "gpu");
  EXPECT_EQ(workload.groups[first.group], "train-vit");
  EXPECT_EQ(workload.gpu_types[first.gpu_types], "a100");
  const Job& second = workload.jobs[1];
  EXPECT_EQ(second.duration, 2 * 86400);
  EXPECT_EQ(second.outcome, Outcome::kFailed);
  const Job& third = workload.jobs[2];
  EXPECT_EQ(third.outcome, Outcome::kKilled);  // CANCELLED by 1001
  EXPECT_EQ(third.user_estimate, 0);           // UNLIMITED
}

TEST(Sacct, Reads2311ArraysAndHeterogeneousJobs) {
  ReadReport report;
  const Workload workload =
      ReadTrace(std::string(kSacctExports) + "sacct-23.11.txt", "auto", {}, &report);
  EXPECT_EQ(Drops(report),
            "2 never started; 1 parts of GPUs only (MIG, shards, shared GPUs); 1 a further "
            "component of a heterogeneous job (counted with it)");
  ASSERT_EQ(workload.jobs.size(), 6u);
  EXPECT_EQ(workload.jobs[0].id, "881200_1");
  const Job& both = workload.jobs[2];
  EXPECT_EQ(both.id, "881210");
  EXPECT_EQ(both.gpus, 10);
  EXPECT_EQ(both.recorded_wait, 25 * 60);
  EXPECT_EQ(workload.gpu_types[both.gpu_types], "a100|v100");
  // An array's limit held it until 11:00:10.
  const Job& held = workload.jobs[3];
  EXPECT_EQ(held.id, "881200_3");
  EXPECT_EQ(held.submit, 3610);
  EXPECT_EQ(held.recorded_wait, 30);
  EXPECT_EQ(report.adjusted.size(), 2u);
  const Job& running = workload.jobs[4];
  EXPECT_EQ(running.outcome, Outcome::kRunning);
  EXPECT_EQ(workload.recorded_until, 7 * 3600 + 3);  // started at 15:00:03, two hours ago
  EXPECT_EQ(workload.RecordedRunTime(running), 2 * 3600);
  EXPECT_GT(running.duration, 2 * 3600);
  EXPECT_LE(running.duration, 10 * 3600) << "its time limit";
  const Job& pending = workload.jobs[5];
  EXPECT_EQ(pending.outcome, Outcome::kPending);
  EXPECT_TRUE(std::isnan(pending.recorded_start()));
  EXPECT_GT(pending.duration, 0);
  EXPECT_EQ(workload.RecordedRunTime(pending), 0);
}

constexpr const char* kNowHeader =
    "JobID|User|Partition|State|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|ReqTRES|AllocTRES\n";

TEST(Sacct, JobsThatBeganBeforeTheRecordDoNotMoveItsBeginning) {
  const Workload workload = ReadText(
      "sacct",
      std::string(kNowHeader) +
          "1|a|p|RUNNING|2026-08-01T00:00:00|2026-08-01T00:00:00|2026-08-02T00:00:00|Unknown|"
          "5270400|UNLIMITED|gres/gpu=8|gres/gpu=8\n"
          "2|a|p|COMPLETED|2026-10-01T00:00:00|2026-10-01T00:00:00|2026-10-01T00:10:00|"
          "2026-10-01T01:10:00|3600|02:00:00|gres/gpu=1|gres/gpu=1\n");
  ASSERT_EQ(workload.jobs.size(), 2u);
  EXPECT_EQ(workload.recorded_from, 61 * 86400.0);
  EXPECT_EQ(workload.recorded_until, 62 * 86400.0);
  EXPECT_GT(workload.jobs[0].duration, 61 * 86400.0);
  EXPECT_EQ(workload.GpuSeconds(), 8 * 61 * 86400.0 + 3600);
}

TEST(Sacct, TasksOfAnArrayThatWaitAreOneJobEach) {
  ReadReport report;
  const auto read = [&](const std::string& id) {
    return ReadText("sacct",
                    std::string(kNowHeader) + id +
                        "|a|p|PENDING|2026-10-01T00:00:00|2026-10-01T00:00:00|Unknown|Unknown|0|"
                        "01:00:00|gres/gpu=2|\n",
                    false, &report);
  };
  const Workload workload = read("7_[5-8,11,20-30:5%2]");
  ASSERT_EQ(workload.jobs.size(), 8u);
  EXPECT_EQ(workload.jobs[0].id, "7_5");
  EXPECT_EQ(workload.jobs[7].id, "7_30");
  EXPECT_EQ(workload.jobs[7].gpus, 2);
  EXPECT_EQ(workload.jobs[7].duration, 3600) << "nothing but its limit is known";
  EXPECT_EQ(report.adjusted.front().rows, 8);
  for (const char* id : {"7_[5-3]", "7_[]", "7_[x]", "7_[1-9999999]"}) {
    ExpectError(ExitCode::kBadData, {"tasks of an array", id, ":2"}, [&] { read(id); });
  }
}

TEST(Sacct, JobsThatCouldNotStartYetDoNotWait) {
  ReadReport report;
  const Workload workload = ReadText(
      "sacct",
      std::string(kNowHeader) +
          "1|a|p|PENDING|2026-10-01T00:00:00|Unknown|Unknown|Unknown|0|01:00:00|gres/gpu=2|\n"
          "2|a|p|PENDING|2026-10-01T00:00:00|2026-10-01T00:00:00|Unknown|Unknown|0|01:00:00|"
          "gres/gpu=2|\n",
      false, &report);
  EXPECT_EQ(workload.jobs.size(), 1u);
  EXPECT_EQ(Drops(report),
            "1 could not start yet: held, or waits for another job, a time, or a limit of its user "
            "or account");
}

// A requeued job waits again: its earlier run is not the job.
TEST(Sacct, ARequeuedJobThatWaitsIsPending) {
  ReadReport report;
  const Workload workload = ReadText(
      "sacct",
      std::string(kNowHeader) +
          "1|a|p|NODE_FAIL|2026-10-01T00:00:00|2026-10-01T00:00:00|2026-10-01T00:00:00|"
          "2026-10-01T02:00:00|7200|10:00:00|gres/gpu=4|gres/gpu=4\n"
          "1|a|p|PENDING|2026-10-01T00:00:00|2026-10-01T02:00:00|Unknown|Unknown|0|10:00:00|"
          "gres/gpu=4|\n",
      false, &report);
  ASSERT_EQ(workload.jobs.size(), 1u);
  EXPECT_EQ(workload.jobs[0].outcome, Outcome::kPending);
  ASSERT_EQ(report.drops.size(), 1u);
  EXPECT_EQ(report.drops[0].gpu_hours, 8);
}

// Limits of users and accounts are not simulated, so nobody knows when such a job may start.
TEST(Squeue, JobsThatALimitKeepsAreLeftOutAndTypesMayStandInAnotherColumn) {
  ReadReport report;
  const Workload workload = ReadText(
      "sacct",
      "JOBID|USER|PARTITION|STATE|SUBMIT_TIME|START_TIME|TIME|TIME_LIMIT|NODES|REASON|TRES_ALLOC|"
      "TRES_PER_NODE\n"
      "1|a|p|RUNNING|2026-10-05T08:00:00|2026-10-05T08:00:00|1:00:00|3:00:00|1|None|"
      "cpu=8,gres/gpu=4|gres:gpu:A100:4\n"
      "2|a|p|PENDING|2026-10-05T08:10:00|N/A|0:00|1:00:00|1|QOSMaxGRESPerUser|cpu=8,gres/gpu=4|\n"
      "3|a|p|PENDING|2026-10-05T08:10:00|N/A|0:00|1:00:00|1|AssocGrpGRES|cpu=8,gres/gpu=4|\n",
      false, &report);
  ASSERT_EQ(workload.jobs.size(), 1u);
  EXPECT_EQ(workload.gpu_types[workload.jobs[0].gpu_types], "a100");
  ASSERT_EQ(report.drops.size(), 1u);
  EXPECT_EQ(report.drops[0].rows, 2);
}

TEST(Squeue, ReadsWhatRunsAndWaits) {
  ReadReport report;
  // As 'squeue -O' pads it; START_TIME of a waiting job is a prediction.
  const Workload workload = ReadText(
      "sacct",
      "JOBID     |USER  |PARTITION|STATE  |SUBMIT_TIME        |START_TIME         |TIME      |"
      "TIME_LIMIT |NODES|REASON   |TRES_ALLOC                    |\n"
      "41        |ann   |a100     |RUNNING|2026-10-05T00:50:00|2026-10-05T01:00:00|1-00:30:00|"
      "2-00:00:00 |2    |None     |cpu=8,gres/gpu=16,gres/gpu:a100=16|\n"
      "42_[1-3%1]|bob   |a100     |PENDING|2026-10-05T01:10:00|2026-10-07T01:00:00|0:00      |"
      "UNLIMITED  |1    |Resources|cpu=1,gres/gpu=4              |\n"
      "43        |bob   |a100     |PENDING|2026-10-05T01:10:00|N/A                |0:00      |"
      "30:00      |1    |JobHeldUser|cpu=1,gres/gpu=4            |\n"
      "44        |bob   |cpu      |RUNNING|2026-10-05T01:10:00|2026-10-05T01:10:00|1:00      |"
      "30:00      |1    |None     |cpu=1                         |\n",
      false, &report);
  ASSERT_EQ(workload.jobs.size(), 4u);
  const Job& running = workload.jobs[0];
  EXPECT_EQ(running.outcome, Outcome::kRunning);
  EXPECT_EQ(running.gpus, 16);
  EXPECT_EQ(running.recorded_wait, 600);
  EXPECT_EQ(workload.recorded_until, 600 + 1.5 * 3600 + 23 * 3600);
  EXPECT_LE(running.duration, 48 * 3600);
  EXPECT_EQ(workload.jobs[1].id, "42_1");
  EXPECT_EQ(workload.jobs[3].outcome, Outcome::kPending);
  EXPECT_EQ(Drops(report),
            "1 could not start yet: held, or waits for another job, a time, or a limit of its user "
            "or account; 1 no GPU requested");
}

TEST(Sacct, AccountAndQosAreKept) {
  const Workload workload = ReadText("sacct",
                                     "JobID|Account|QOS|State|Submit|Start|Elapsed|AllocTRES\n"
                                     "1|nlp|high|COMPLETED|2026-10-05T00:00:00|2026-10-05T00:00:00|"
                                     "00:10:00|gres/gpu=1\n");
  ASSERT_EQ(workload.jobs.size(), 1u);
  EXPECT_EQ(workload.ChargeOf(workload.jobs[0]).account, "nlp");
  EXPECT_EQ(workload.ChargeOf(workload.jobs[0]).qos, "high");
}

TEST(Squeue, NiceLowersThePriority) {
  const Workload workload =
      ReadText("sacct",
               "JOBID|NICE|STATE|SUBMIT_TIME|START_TIME|TIME|TRES_ALLOC\n"
               "1|30|RUNNING|2026-10-05T00:00:00|2026-10-05T00:00:00|10:00|gres/gpu=1\n");
  ASSERT_EQ(workload.jobs.size(), 1u);
  EXPECT_EQ(workload.jobs[0].priority, -30);
}

TEST(Squeue, GresOfANodeCountsForEachNode) {
  const Workload workload =
      ReadText("sacct",
               "JOBID|ST|SUBMIT_TIME|START_TIME|TIME|NODES|TRES_PER_NODE|NODELIST(REASON)\n"
               "41|R|2026-10-05T01:00:00|2026-10-05T01:00:00|30:00|2|gres/gpu:a100:4|n[1-2]\n"
               "42|PD|2026-10-05T01:00:00|N/A|0:00|2|gres/gpu:a100:4|(Dependency)\n");
  ASSERT_EQ(workload.jobs.size(), 1u);
  EXPECT_EQ(workload.jobs[0].gpus, 8);
}

TEST(Squeue, TheTableForPeopleIsRefusedWithTheCommandThatIsRead) {
  ExpectError(ExitCode::kBadData, {"squeue", "SUBMIT_TIME", "squeue --all -O", ":1"}, [] {
    ReadText("sacct",
             "             JOBID PARTITION     NAME     USER ST  TIME  NODES NODELIST(REASON)\n"
             "                41      a100    train      ann  R  1:00      1 n1\n");
  });
}

TEST(Sacct, Reads2505WithEarlierRunsAndATrailingSeparator) {
  ReadReport report;
  const Workload workload =
      ReadTrace(std::string(kSacctExports) + "sacct-25.05.txt", "auto", {}, &report);
  EXPECT_EQ(Drops(report), "1 run time is 0 s; 2 an earlier run of a requeued or resized job");
  ASSERT_EQ(workload.jobs.size(), 4u);
  const Job& preempted = workload.jobs[0];
  EXPECT_EQ(preempted.id, "5002");
  EXPECT_EQ(preempted.outcome, Outcome::kKilled);
  EXPECT_EQ(workload.jobs[1].id, "5003");
  EXPECT_EQ(workload.jobs[1].duration, 86400);
  EXPECT_EQ(workload.jobs[2].id, "5005_7");
  EXPECT_EQ(workload.jobs[2].duration, 3725);
  EXPECT_EQ(workload.jobs[3].id, "5001");
  EXPECT_EQ(workload.jobs[3].recorded_wait, 8 * 60);
}

TEST(Sacct, OldVersionsNameGenericResources) {
  const Workload workload = ReadText(
      "sacct",
      "JobID|State|Submit|Start|End|NNodes|AllocGRES|ReqGRES\n"
      "1|COMPLETED|2019-03-01T10:00:00|2019-03-01T10:00:00|2019-03-01T10:01:00|2|gpu:k80:4|x\n"
      "2|COMPLETED|2019-03-01T10:00:00|2019-03-01T10:00:00|2019-03-01T10:01:00|3||PER_NODE:gpu:"
      "2\n");
  ASSERT_EQ(workload.jobs.size(), 2u);
  EXPECT_EQ(workload.jobs[0].gpus, 4);
  EXPECT_EQ(workload.jobs[0].duration, 60);
  EXPECT_EQ(workload.gpu_types[workload.jobs[0].gpu_types], "k80");
  EXPECT_EQ(workload.jobs[1].gpus, 6);
}

TEST(Sacct, ATableSavedAgainAsCsvHasListsInQuotes) {
  const Workload workload =
      ReadText("sacct",
               "JobID,State,Submit,ElapsedRaw,AllocTRES\n"
               "1,COMPLETED,2026-03-01 10:00:00,60,\"billing=2,cpu=2,gres/gpu=3\"\n");
  ASSERT_EQ(workload.jobs.size(), 1u);
  EXPECT_EQ(workload.jobs[0].gpus, 3);
  EXPECT_LT(workload.jobs[0].recorded_wait, 0);  // no column Start
}

TEST(Sacct, AJobNumberThatIsUsedAgainIsAnotherJob) {
  ReadReport report;
  const Workload workload = ReadText(
      "sacct",
      SacctRows("7|a|p|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:00:00|00:01:00||gres/gpu=1\n"
                "7|a|p|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:00:00|00:01:00||gres/gpu=1\n"
                "7|b|p|COMPLETED|2026-02-01T00:00:00|2026-02-01T00:00:00|00:01:00||gres/gpu=2\n"),
      false, &report);
  ASSERT_EQ(workload.jobs.size(), 2u);
  EXPECT_EQ(workload.jobs[1].id, "7#2");
  EXPECT_EQ(Drops(report), "1 the same row again");
  EXPECT_EQ(Adjustments(report), "1 a job number that was used again");
}

TEST(Sacct, MissingColumnsThatOnlyInformAreNoted) {
  ReadReport report;
  ReadText("sacct",
           "JobID|State|Submit|ElapsedRaw|AllocTRES\n"
           "1|COMPLETED|2026-03-01T10:00:00|60|gres/gpu=3\n",
           false, &report);
  ASSERT_EQ(report.notes.size(), 1u);
  for (const char* part : {"Start", "User", "Partition", "TimelimitRaw", "sacct --allusers"}) {
    EXPECT_NE(report.notes[0].find(part), std::string::npos) << part;
  }
}

TEST(Sacct, SlicesAreNoGpus) {
  ReadReport report;
  const std::string head = "a|p|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:00:00|00:01:00||";
  const Workload workload = ReadText(
      "sacct",
      SacctRows("1|" + head + "gres/gpu:1g.5gb=1,gres/gpu=1\n2|" + head +
                "gres/gpu:a100=2,gres/gpu:a100_3g.20gb=1,gres/gpu=3\n3|" + head + "gres/gpu=4\n"),
      false, &report);
  EXPECT_EQ(Drops(report), "1 parts of GPUs only (MIG, shards, shared GPUs)");
  EXPECT_EQ(Adjustments(report), "1 parts of GPUs (MIG) beside whole ones, not counted");
  ASSERT_EQ(workload.jobs.size(), 2u);
  EXPECT_EQ(workload.jobs[0].gpus, 2);
  EXPECT_EQ(workload.gpu_types[workload.jobs[0].gpu_types], "a100");
}

TEST(Sacct, WhatASliceAskedForIsNoWholeGpuEither) {
  ReadReport report;
  EXPECT_TRUE(
      ReadText("sacct",
               "JobID|State|Submit|ElapsedRaw|ReqTRES|AllocTRES\n"
               "1|COMPLETED|2026-03-01T10:00:00|60|gres/gpu=1|gres/gpu:1g.5gb=1,gres/gpu=1\n",
               false, &report)
          .jobs.empty());
}

constexpr const char* kWithEnd = "JobID|State|Submit|Start|End|ElapsedRaw|AllocTRES\n";

TEST(Sacct, AChangeOfTheClocksIsCounted) {
  ReadReport report;
  const Workload workload = ReadText("sacct",
                                     std::string(kWithEnd) +
                                         "1|COMPLETED|2026-10-25T01:00:00|2026-10-25T01:30:00|2026-"
                                         "10-25T02:30:00|7200|gres/gpu=1\n"
                                         "2|COMPLETED|2026-10-25T04:00:00|2026-10-25T04:00:00|2026-"
                                         "10-25T05:00:00|3600|gres/gpu=1\n",
                                     false, &report);
  EXPECT_EQ(workload.jobs[0].duration, 7200);
  EXPECT_EQ(Adjustments(report),
            "1 start and end an hour off the run time, which counts: the clocks were changed "
            "meanwhile");
}

TEST(Sacct, WithoutAnElapsedTimeAnEndBeforeTheStartIsAnHourLater) {
  ReadReport report;
  const Workload workload = ReadText(
      "sacct",
      "JobID|State|Submit|Start|End|AllocTRES\n"
      "1|COMPLETED|2026-10-25T01:00:00|2026-10-25T02:50:00|2026-10-25T02:10:00|gres/gpu=1\n",
      false, &report);
  EXPECT_EQ(workload.jobs[0].duration, 1200);
  EXPECT_EQ(report.adjusted.size(), 1u);
}

TEST(Sacct, TimesMayBeSecondsSince1970ButNoOtherNumbers) {
  const Workload workload =
      ReadText("sacct", std::string(kWithEnd) +
                            "1|COMPLETED|1795442700|1795442760|1795442820|60|gres/gpu=1\n");
  EXPECT_EQ(workload.origin, "2026-11-23 14:05:00");
  EXPECT_EQ(workload.jobs[0].recorded_wait, 60);
  ExpectBadData("sacct",
                {{"digits of a date",
                  std::string(kWithEnd) + "1|COMPLETED|20261101|20261101|20261101|60|gres/gpu=1\n",
                  {"'Start' must be a time", "SLURM_TIME_FORMAT=%s", "20261101", "t.csv:2"}}});
}

TEST(Sacct, FilesInUtf16AndLatin1) {
  const std::string row = std::string("JobID|State|Submit|ElapsedRaw|AllocTRES|User\n") +
                          "1|COMPLETED|2026-03-01T10:00:00|60|gres/gpu=3|M";
  std::string wide = "\xFF\xFE";
  for (const char c : row + "ller\n") (wide += c) += '\0';
  ReadReport report;
  const TempFile utf16("t.txt", wide);
  EXPECT_EQ(ReadTrace(utf16.path(), "auto", {}, &report).jobs[0].gpus, 3);
  EXPECT_EQ(report.encoding, "UTF-16");
  const TempFile latin("t.txt", row + "\xFCller\n");
  EXPECT_GE(ReadTrace(latin.path()).users.Find("Müller"), 0);
}

TEST(Sacct, BadInputNamesRuleValueAndPlace) {
  const std::string tail = "|2026-01-01T00:00:00|2026-01-01T00:00:00|00:01:00||gres/gpu=1\n";
  ExpectBadData(
      "sacct",
      {{"number of fields",
        SacctRows("1|a|p|COMPLETED" + tail + "2|a|odd|name|COMPLETED" + tail),
        {"9 fields", "leave JobName out", "10", "t.csv:3"}},
       {"job", SacctRows("one|a|p|COMPLETED" + tail), {"'JobID'", "123.batch", "'one'", "t.csv:2"}},
       {"state", SacctRows("1|a|p|DONE" + tail), {"'State'", "'DONE'", "t.csv:2"}},
       {"time",
        SacctRows("1|a|p|COMPLETED|yesterday|2026-01-01T00:00:00|00:01:00||gres/gpu=1\n"),
        {"'Submit'", "2026-11-01T10:00:00", "'yesterday'", "t.csv:2"}},
       {"length",
        SacctRows("1|a|p|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:00:00|60 s||gres/gpu=1\n"),
        {"'Elapsed'", "2-01:30:00", "'60 s'", "t.csv:2"}},
       {"GPUs",
        SacctRows("1|a|p|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:00:00|00:01:00||gres/gpu=x\n"),
        {"'AllocTRES'", "gres/gpu=x", "t.csv:2"}},
       {"no GPU at all",
        SacctRows("1|a|p|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:00:00|00:01:00||cpu=1\n"),
        {"AccountingStorageTRES=gres/gpu", "1 rows", "t.csv:1"}},
       {"columns",
        "JobID|JobName|Partition|Account|AllocCPUS|State|ExitCode\n1|a|b|c|1|COMPLETED|0:0\n",
        {"Submit, ElapsedRaw, AllocTRES", "sacct --allusers --allocations --parsable2", "t.csv:1"}},
       {"fixed widths",
        "JobID           JobName  Partition\n------------ ---------- ----------\n1 a b\n",
        {"fixed widths", "--parsable2"}}});
}

void ExpectSameJobs(const Workload& a, const Workload& b) {
  EXPECT_EQ(a.origin, b.origin);
  ASSERT_EQ(a.jobs.size(), b.jobs.size());
  for (std::size_t i = 0; i < a.jobs.size(); ++i) {
    SCOPED_TRACE(i);
    const Job &x = a.jobs[i], &y = b.jobs[i];
    EXPECT_EQ(x.id, y.id);
    EXPECT_EQ(x.submit, y.submit);
    EXPECT_EQ(x.gpus, y.gpus);
    EXPECT_EQ(x.duration, y.duration);
    EXPECT_EQ(x.recorded_wait, y.recorded_wait);
    EXPECT_EQ(x.user_estimate, y.user_estimate);
    EXPECT_EQ(x.outcome, y.outcome);
    EXPECT_EQ(a.users[x.user], b.users[y.user]);
    EXPECT_EQ(a.groups[x.group], b.groups[y.group]);
    EXPECT_EQ(a.tenants[x.tenant], b.tenants[y.tenant]);
    EXPECT_EQ(a.gpu_types[x.gpu_types], b.gpu_types[y.gpu_types]);
  }
}

TEST(SacctJson, GivesTheJobsOfTheText) {
  for (const auto& [text, json] : {std::pair("sacct-22.05.txt", "sacct-22.05.json"),
                                   std::pair("sacct-23.11.txt", "sacct-24.11.json")}) {
    SCOPED_TRACE(json);
    ReadReport of_text, of_json;
    const Workload expected = ReadTrace(std::string(kSacctExports) + text, "auto", {}, &of_text);
    const Workload read = ReadTrace(std::string(kSacctExports) + json, "auto", {}, &of_json);
    EXPECT_EQ(of_json.format, "sacct-json");
    ExpectSameJobs(expected, read);
    // JSON holds steps inside of their jobs.
    std::erase_if(of_text.drops, [](const DropCount& drop) {
      return drop.reason == "a step of a job (counted with it)";
    });
    EXPECT_EQ(Drops(of_text), Drops(of_json));
    EXPECT_EQ(Adjustments(of_text), Adjustments(of_json));
  }
}

// A job that ran for a minute on two GPUs, with parts of its record replaced.
std::string SacctJsonRecord(const std::string& limit, const std::string& count = "2",
                            const std::string& state = "\"COMPLETED\"") {
  return fmt::format(
      R"({{"job_id": 7, "user": "", "association": {{"user": "ann"}}, "partition": "gpu",
"state": {{"current": {}}},
"time": {{"submission": 1790812800, "eligible": 0, "start": 1790812860, "end": 1790812920,
"elapsed": 60, "limit": {}}},
"tres": {{"requested": [], "allocated": [{{"type": "gres", "name": "gpu", "count": {}}}]}}}})",
      state, limit, count);
}

TEST(SacctJson, TimeLimitsInAllShapes) {
  const std::vector<std::pair<std::string, double>> limits = {
      {"90", 5400},
      {"4294967295", 0},
      {"4294967294", 0},
      {"null", 0},
      {R"({"set": true, "infinite": false, "number": 90})", 5400},
      {R"({"number": 90})", 5400},
      {R"({"set": false, "infinite": true, "number": 0})", 0},
      {R"({"set": false, "infinite": false, "number": 90})", 0}};
  for (const auto& [limit, seconds] : limits) {
    SCOPED_TRACE(limit);
    const Workload workload =
        ReadText("sacct-json", R"({"jobs": [)" + SacctJsonRecord(limit) + "]}");
    ASSERT_EQ(workload.jobs.size(), 1u);
    EXPECT_EQ(workload.jobs[0].user_estimate, seconds);
    EXPECT_EQ(workload.jobs[0].recorded_wait, 60);
    EXPECT_EQ(workload.users[workload.jobs[0].user], "ann");
  }
}

TEST(SacctJson, BadInputNamesRuleValueAndPlace) {
  const std::string good = SacctJsonRecord("90");
  ExpectBadData(
      "sacct-json",
      {{"cut", R"({"jobs": [)" + good, {"one whole object", "sacct --allusers", "t.csv:1"}},
       {"no jobs", R"({"meta": {}})", {"a list 'jobs'", "got none"}},
       {"state",
        "{\"jobs\": [\n" + good + ",\n" + SacctJsonRecord("90", "2", "[\"DONE\"]") + "]}",
        {"'State'", "'DONE'", "t.csv:7"}},
       {"count", R"({"jobs": [)" + SacctJsonRecord("90", "1.5") + "]}", {"'count'", "1.5"}},
       {"record", R"({"jobs": [7]})", {"an object", "'7'"}}});
}

TEST(Sacct, ANameMayHoldTheSeparator) {
  const Workload workload = ReadTrace(std::string(ALLOT_TEST_DATA) + "/cases/bug-01.txt");
  ASSERT_EQ(workload.jobs.size(), 2u);
  EXPECT_EQ(workload.groups[workload.jobs[0].group], "a|b");
  EXPECT_EQ(workload.jobs[0].gpus, 2);
  // Two columns of free text: nothing says which of them holds it.
  ExpectBadData("sacct", {{"two",
                           "JobID|JobName|Comment|State|Submit|ElapsedRaw|AllocTRES\n"
                           "1|a|b|c|COMPLETED|2026-03-01T10:00:00|60|gres/gpu=3\n",
                           {"leave JobName, Comment out", "--delimiter", "8", "t.csv:2"}}});
}

TEST(Sacct, ALineBreakInAFieldIsNamed) {
  ExpectError(ExitCode::kBadData, {"8 fields", "line break", "'Comment'", "bug-02.txt:2"},
              [] { ReadTrace(ALLOT_TEST_DATA "/cases/bug-02.txt"); });
  const std::string row = "1|COMPLETED|2026-03-01T10:00:00|60|gres/gpu=3|";
  ExpectBadData("sacct", {{"last column",
                           "JobID|State|Submit|ElapsedRaw|AllocTRES|Comment\n" + row + "a\nb\n",
                           {"line break", "'Comment' of the row before", "t.csv:3"}}});
}

TEST(Sacct, AStartBeforeTheSubmissionIsCounted) {
  ReadReport report;
  const Workload workload = ReadText(
      "sacct",
      SacctRows("1|a|p|COMPLETED|2026-01-01T01:00:00|2026-01-01T00:30:00|00:01:00||gres/gpu=1\n"),
      false, &report);
  EXPECT_EQ(workload.jobs[0].recorded_wait, 0);
  EXPECT_EQ(Adjustments(report), "1 started before it was submitted: its wait counts as 0");
}

}  // namespace
}  // namespace allot
