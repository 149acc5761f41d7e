#include "workload/sample.h"

#include <set>

#include "trace_testing.h"
#include "workload/calendar.h"

namespace allot {
namespace {

// `count` jobs of `gpus` GPUs and `duration`, one every 10 s from 0.
Workload Regular(int count, GpuCount gpus = 1, Seconds duration = 5) {
  Workload workload;
  workload.name = "w";
  workload.origin = "2017-10-30 00:00:00";
  for (int i = 0; i < count; ++i) {
    Job job;
    job.id = fmt::format("j{}", i);
    job.submit = 10.0 * i;
    job.gpus = gpus;
    job.duration = duration;
    workload.jobs.push_back(job);
  }
  workload.Finish();
  return workload;
}

std::set<std::string> Ids(const Workload& workload) {
  std::set<std::string> ids;
  for (const Job& job : workload.jobs) ids.insert(job.id);
  return ids;
}

TEST(Sample, WindowIsHalfOpenAndStartsAtZero) {
  Workload workload = Regular(10);
  workload.jobs[3].deadline = 100;
  const Workload sample = Sample(workload, {.from = 25, .to = 50});
  EXPECT_EQ(Ids(sample), (std::set<std::string>{"j3", "j4"}));
  EXPECT_EQ(sample.jobs[0].submit, 5);
  EXPECT_EQ(sample.jobs[0].deadline, 75);
  EXPECT_EQ(sample.jobs[1].deadline, kNever);
  EXPECT_EQ(sample.origin, "2017-10-30 00:00:25");
}

TEST(Sample, TakesTheSameJobsOfAWorkloadThatIsGivenAway) {
  for (const SampleOptions& options :
       {SampleOptions{.from = 25, .to = 950}, SampleOptions{.gpus_capacity = 1, .load = 0.2},
        SampleOptions{.to = 400, .max_gpus = 1}}) {
    Workload workload = Regular(100);
    workload.jobs[7].gpus = 2;
    workload.jobs[40].deadline = 1000;
    const Workload copied = Sample(workload, options);
    const Workload moved = Sample(std::move(workload), options);
    EXPECT_EQ(moved.name, copied.name);
    ASSERT_EQ(moved.jobs.size(), copied.jobs.size());
    for (std::size_t j = 0; j < moved.jobs.size(); ++j) {
      EXPECT_EQ(moved.jobs[j].id, copied.jobs[j].id);
      EXPECT_EQ(moved.jobs[j].submit, copied.jobs[j].submit);
      EXPECT_EQ(moved.jobs[j].deadline, copied.jobs[j].deadline);
    }
  }
}

TEST(Sample, NameTellsWindowAndDraw) {
  Workload workload = Regular(10);
  EXPECT_EQ(Sample(workload, {.from = 30}).name, "w@2017-10-30T00:00:30+60s");
  workload.origin = "";
  EXPECT_EQ(
      Sample(workload, {.to = 86400, .gpus_capacity = 1, .load = 1e-4, .seed = 5, .part = 1}).name,
      "w@0d+1d-s5-p1");
}

TEST(Sample, OpenEndIncludesTheLastJob) {
  EXPECT_EQ(Sample(Regular(10), {.from = 50}).jobs.size(), 5u);
}

// In a window that begins at 100: a has run since 40, b waits since 50, c began at 110, d had
// ended.
TEST(Sample, JobsThatHadNotEndedAreCarriedIntoTheWindow) {
  Workload workload = Regular(20);
  workload.recorded_until = 200;
  const auto unfinished = [&](std::size_t j, Outcome outcome, Seconds start) {
    Job& job = workload.jobs[j];
    job.outcome = outcome;
    job.duration = 500;
    job.user_estimate = 1000;
    job.recorded_wait = outcome == Outcome::kPending ? -1 : start - job.submit;
  };
  unfinished(5, Outcome::kPending, 0);
  unfinished(4, Outcome::kRunning, 40);
  unfinished(6, Outcome::kRunning, 110);
  const Workload sample = Sample(workload, {.from = 100});
  ASSERT_EQ(sample.jobs.size(), 13u);
  EXPECT_EQ(sample.recorded_until, 100);
  const Job& ran = sample.jobs[0];
  EXPECT_EQ(ran.id, "j4");
  EXPECT_EQ(ran.submit, 0);
  EXPECT_EQ(ran.duration, 440);
  EXPECT_EQ(ran.user_estimate, 940);
  EXPECT_EQ(sample.RecordedRunTime(ran), 100);
  EXPECT_EQ(sample.jobs[1].id, "j5");
  EXPECT_EQ(sample.jobs[1].duration, 500);
  EXPECT_EQ(sample.jobs[2].recorded_wait, 10);
  EXPECT_EQ(sample.jobs[3].id, "j10");
}

TEST(Sample, KeepsNameTables) {
  Workload workload = Regular(2);
  workload.jobs[1].tenant = workload.tenants.Intern("t");
  const Workload sample = Sample(workload, {});
  EXPECT_EQ(sample.tenants[sample.jobs[1].tenant], "t");
}

TEST(Sample, LargeJobsAreLeftOutAndCounted) {
  Workload workload = Regular(10);
  workload.jobs[4].gpus = 9;
  SampleReport report;
  EXPECT_EQ(Sample(workload, {.max_gpus = 8}, &report).jobs.size(), 9u);
  EXPECT_EQ(report.in_window, 10);
  EXPECT_EQ(report.too_large, 1);
  EXPECT_EQ(report.kept, 9);
}

TEST(Sample, LoadCountsOnlyTimeInsideTheWindow) {
  // jobs at 0 and 10, 2 GPUs, 15 s each, window of 20 s: 2 x 15 + 2 x 10 of 4 x 20 GPU-seconds
  SampleReport report;
  Sample(Regular(5, 2, 15), {.to = 20, .gpus_capacity = 4}, &report);
  EXPECT_DOUBLE_EQ(report.window_load, 50.0 / 80.0);
  EXPECT_DOUBLE_EQ(report.offered_load, report.window_load);
}

TEST(Sample, ThinsToTheWantedLoad) {
  SampleReport report;
  Sample(Regular(20'000), {.gpus_capacity = 1, .load = 0.2, .seed = 7}, &report);
  EXPECT_NEAR(report.window_load, 0.5, 1e-3);
  EXPECT_NEAR(report.keep_probability, 0.4, 1e-3);
  EXPECT_NEAR(report.offered_load, 0.2, 0.005);
  EXPECT_NEAR(static_cast<double>(report.kept), 8000, 300);
}

TEST(Sample, SameSeedSameJobsOtherSeedOtherJobs) {
  const Workload workload = Regular(200);
  const auto ids = [&](std::uint64_t seed) {
    return Ids(Sample(workload, {.gpus_capacity = 1, .load = 0.2, .seed = seed}));
  };
  EXPECT_EQ(ids(1), ids(1));
  EXPECT_NE(ids(1), ids(2));
}

TEST(Sample, AJobIsInOrOutWhateverTheOthersAre) {
  Workload workload = Regular(400);
  const auto all = Ids(Sample(workload, {.gpus_capacity = 1, .load = 0.2, .seed = 3}));
  for (std::size_t i = 0; i < workload.jobs.size(); i += 2) workload.jobs[i].id += "-renamed";
  for (const std::string& id :
       Ids(Sample(workload, {.gpus_capacity = 1, .load = 0.2, .seed = 3}))) {
    if (id.find('-') == std::string::npos) {
      EXPECT_EQ(all.count(id), 1u) << id;
    }
  }
}

TEST(Sample, PartsOfOneSeedAreDisjoint) {
  const Workload workload = Regular(1000);
  std::set<std::string> seen;
  std::size_t total = 0;
  for (int part = 0; part < 4; ++part) {
    const auto ids =
        Ids(Sample(workload, {.gpus_capacity = 1, .load = 0.12, .seed = 1, .part = part}));
    EXPECT_GT(ids.size(), 150u);
    total += ids.size();
    seen.insert(ids.begin(), ids.end());
  }
  EXPECT_EQ(seen.size(), total);
}

TEST(Sample, TooLittleLoadNamesBoth) {
  ExpectError(ExitCode::kBadData, {"load of 0.5", "to 2 GPUs", "got 0.25", "all 1000 jobs", "'w'"},
              [] { Sample(Regular(1000), {.gpus_capacity = 2, .load = 0.5}); });
  ExpectError(ExitCode::kBadData, {"load of 0.6", "got 0.5"},
              [] { Sample(Regular(1000), {.gpus_capacity = 1, .load = 0.3, .part = 1}); });
}

TEST(Sample, NothingKeptIsBadData) {
  ExpectError(ExitCode::kBadData, {"at least 1 job", "got 0 of 0", "[1, 9)"},
              [] { Sample(Regular(10), {.from = 1, .to = 9}); });
  ExpectError(ExitCode::kBadData, {"got 0 of 10", "10 of them over 2 GPUs"},
              [] { Sample(Regular(10, 4), {.max_gpus = 2}); });
}

TEST(Sample, NonsenseOptionsAreUsageErrors) {
  const Workload workload = Regular(10);
  const std::vector<SampleOptions> nonsense = {{.from = 5, .to = 5},
                                               {.from = kUnknown},
                                               {.from = -kNever},
                                               {.load = 1},
                                               {.gpus_capacity = 1, .load = -1},
                                               {.gpus_capacity = 1, .load = kUnknown},
                                               {.part = -1}};
  for (const SampleOptions& options : nonsense) {
    ExpectError(ExitCode::kUsage, {"got"}, [&] { Sample(workload, options); });
  }
}

TEST(Sample, WeekOfTheEmbeddedTraceAtUnitLoad) {
  const Workload trace = ReadTrace("embedded");
  SampleReport report;
  const Workload week = Sample(trace,
                               {.from = ParseWhen(trace, "2017-11-13"),
                                .to = ParseWhen(trace, "2017-11-20"),
                                .gpus_capacity = 64,
                                .load = 1.0,
                                .seed = 1,
                                .max_gpus = 64},
                               &report);
  EXPECT_EQ(week.origin, "2017-11-13 00:00:00");
  EXPECT_EQ(week.name, "philly-2017-4weeks@2017-11-13+7d-s1");
  EXPECT_LT(week.jobs.back().submit, 7 * 86400);
  // Half of the GPU time is in 1 % of the jobs, hence the wide scatter.
  EXPECT_NEAR(report.offered_load, 1.0, 0.5);
}

TEST(OfferedLoad, IsGpuTimeWithinTheSpanOverCapacity) {
  // submissions at 0, 10, 20; 2 GPUs for 15 s: 2 x (15 + 10 + 0) of 5 x 20
  EXPECT_DOUBLE_EQ(OfferedLoad(Regular(3, 2, 15), 5), 0.5);
  EXPECT_TRUE(std::isnan(OfferedLoad(Regular(1), 5)));
}

}  // namespace
}  // namespace allot
