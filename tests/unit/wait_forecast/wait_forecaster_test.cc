#include "wait_forecast/wait_forecaster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/rng.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/sim/small_world.h"
#include "workload/past_lengths.h"

namespace allot {
namespace {

using testing_support::Fifo;
using testing_support::Las;
using testing_support::ScenarioOf;
using testing_support::SmallJob;

SimOptions Rules() {
  SimOptions rules;
  rules.interval = 10;
  rules.restart_cost = 0;
  rules.lengths = LengthEstimates::Parse("none");
  return rules;
}

// Lengths from 512 s to 609 s, a bin of the model, are all but certain.
LengthModel AboutTenMinutes() {
  LengthModel lengths;
  lengths.Learn(testing_support::WorkloadOf(std::vector<SmallJob>(20000, {0, 4, 600})), kNever);
  return lengths;
}

// What a run shows at its first decision from `at` on.
Observation MomentOf(const Scenario& scenario, Policy& policy, Seconds at) {
  struct Listener : DecisionListener {
    Seconds at = 0;
    bool seen = false;
    Observation moment;
    void OnDecision(const Observation& o, const Allocation&) override {
      if (seen || o.now < at) return;
      seen = true;
      moment = o;
    }
  } listener;
  listener.at = at;
  DecisionListener* const listeners[] = {&listener};
  RunPolicy(scenario, policy, listeners);
  EXPECT_TRUE(listener.seen);
  listener.moment.cluster = &scenario.cluster();  // that of the run is gone
  return listener.moment;
}

std::vector<JobForecast> Look(const Observation& moment, const LengthModel& lengths, Policy& policy,
                              const WaitForecastOptions& options = {},
                              std::shared_ptr<const PastArrivals> past = nullptr) {
  return WaitForecaster(Rules(), options, std::move(past)).Predict({moment}, lengths, policy).jobs;
}

// One node of four GPUs: a job that needs all of them has run for 60 s, two more wait behind it.
TEST(WaitForecaster, TheJobBehindStartsWhenTheOneInFrontEnds) {
  const Scenario scenario = ScenarioOf({{0, 4, 600}, {50, 4, 600}, {60, 4, 600}}, "1x4", Rules());
  const auto policy = Fifo();
  const Observation moment = MomentOf(scenario, *policy, 60);
  const auto jobs = Look(moment, AboutTenMinutes(), *policy, {.samples = 40});
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_FALSE(jobs[0].waits);
  EXPECT_TRUE(std::isnan(jobs[0].start[1]));
  for (std::size_t l = 0; l < 3; ++l) {
    EXPECT_GE(jobs[0].end[l], 512) << l;
    EXPECT_LE(jobs[0].end[l], 609) << l;
    EXPECT_TRUE(jobs[1].waits);
    EXPECT_GE(jobs[1].start[l], jobs[0].end[l] - 1e-6) << "free GPUs only: " << l;
    EXPECT_LE(jobs[1].start[l], jobs[0].end[l] + 10) << "at the next interval: " << l;
    EXPECT_GE(jobs[2].start[l], 2 * 512) << l;
    EXPECT_LE(jobs[2].start[l], 2 * 609 + 20) << l;
    EXPECT_GE(jobs[2].end[l], 3 * 512) << l;
  }
}

TEST(WaitForecaster, QuantilesAreThoseOfTheLengthThatIsDrawn) {
  const Scenario scenario = ScenarioOf({{0, 4, 6000}, {50, 4, 600}}, "1x4", Rules());
  const auto policy = Fifo();
  const Observation moment = MomentOf(scenario, *policy, 50);
  const LengthModel lengths;
  const auto jobs = Look(moment, lengths, *policy, {.samples = 200});
  for (std::size_t l = 0; l < 3; ++l) {
    const Seconds low = lengths.Remaining(moment, 0, kForecastLevels[l] - 0.01);
    const Seconds high = lengths.Remaining(moment, 0, kForecastLevels[l] + 0.01);
    EXPECT_GE(jobs[0].end[l] - moment.now, low) << l;
    EXPECT_LE(jobs[0].end[l] - moment.now, high) << l;
  }
}

// The first has a limit of 400 s; the model expects ten minutes. Submissions make the moments.
TEST(WaitForecaster, TimeLimitsBoundEndsUntilTheyAreOutlived) {
  Workload workload = testing_support::WorkloadOf({{0, 4, 600}, {50, 4, 600}, {450, 4, 600}});
  for (Job& job : workload.jobs) job.user_estimate = 400;
  SimOptions rules = Rules();
  rules.lengths = LengthEstimates::Parse("user");
  const Scenario scenario(std::move(workload), ClusterSpec::Parse("1x4"), rules);
  const auto policy = Fifo();
  for (const Seconds at : {50, 450}) {
    const Observation moment = MomentOf(scenario, *policy, at);
    const auto jobs = WaitForecaster(rules, {.samples = 40}, nullptr)
                          .Predict({moment}, LengthModel(), *policy)
                          .jobs;
    if (at < 400) {
      EXPECT_NEAR(jobs[0].end[2], 400, 1e-6);
      EXPECT_LE(jobs[1].start[2], 410) << "at the next interval";
    } else {
      EXPECT_GT(jobs[0].end[0], at) << "it runs on beyond its limit";
      EXPECT_GT(jobs[0].end[2], jobs[0].end[0]);
    }
    EXPECT_LE(jobs[1].end[2] - jobs[1].start[0], jobs[0].end[2] - jobs[0].end[0] + 410);
  }
}

// Two jobs of a user have all four GPUs, a third one waits before the job of another user.
TEST(WaitForecaster, FairSharesAreKept) {
  Workload workload =
      testing_support::WorkloadOf({{0, 2, 600}, {0, 2, 600}, {50, 2, 600}, {60, 2, 600}});
  for (Job& job : workload.jobs) job.user = workload.users.Intern("ann");
  workload.jobs.back().user = workload.users.Intern("bob");
  SimOptions with_rules = Rules();
  with_rules.rules = std::make_shared<OperatorRules>();
  const Scenario scenario(std::move(workload), ClusterSpec::Parse("1x4"), with_rules);
  const auto policy = Fifo();
  const Observation moment = MomentOf(scenario, *policy, 60);
  const auto starts = [&](const SimOptions& rules) {
    const WaitForecaster forecaster(rules, {.samples = 8}, nullptr);
    const auto jobs = forecaster.Predict({moment}, AboutTenMinutes(), *policy).jobs;
    return std::pair(jobs[2].start[1], jobs[3].start[1]);
  };
  const auto [of_ann, of_bob] = starts(with_rules);
  EXPECT_EQ(of_bob, 60) << "his share is two GPUs";
  EXPECT_GT(of_ann, 500);
  EXPECT_GT(starts(Rules()).second, 500) << "fifo alone";
}

TEST(WaitForecaster, AJobThatCannotStartWithinTheHorizonStartsLater) {
  const Scenario scenario = ScenarioOf({{0, 4, 600}, {50, 4, 600}}, "1x4", Rules());
  const auto policy = Fifo();
  const Observation moment = MomentOf(scenario, *policy, 50);
  const auto jobs =
      Look(moment, AboutTenMinutes(), *policy, {.samples = 8, .horizon = 300, .settle = 0});
  EXPECT_EQ(jobs[1].start, (TimeQuantiles{kNever, kNever, kNever}));
  EXPECT_EQ(jobs[1].end, (TimeQuantiles{kNever, kNever, kNever}));
  EXPECT_LE(jobs[0].end[2], 609) << "what runs at the horizon is taken to run on";
}

// A job that needs the node that is gone, behind others that do not.
TEST(WaitForecaster, WhatNoForecastCanTellIsNotToldAndSpoilsNoOther) {
  const Scenario scenario = ScenarioOf({{0, 4, 600}, {10, 4, 600}, {20, 8, 600}}, "2x4", Rules());
  for (const bool by_service : {false, true}) {
    const auto policy = by_service ? Las() : Fifo();
    Observation moment = MomentOf(scenario, *policy, 20);
    ASSERT_EQ(moment.job.size(), 3U);
    ClusterSpec cluster = *moment.cluster;
    cluster.SetCapacity(1, {});
    std::erase_if(moment.shares, [](const NodeShare& share) { return share.node == 1; });
    moment.running[1] = -1;
    moment.share_begin = {0, 1, 1, 1};
    moment.cluster = &cluster;
    const auto jobs = Look(moment, AboutTenMinutes(), *policy, {.samples = 8});
    EXPECT_LE(jobs[0].end[2], 2 * 609 + 20);
    EXPECT_LE(jobs[1].end[2], 2 * 609 + 20);
    EXPECT_TRUE(jobs[1].known());
    EXPECT_FALSE(jobs[2].known());
    EXPECT_TRUE(std::isnan(jobs[2].start[0]));
  }
}

// Forty jobs one behind the other.
TEST(WaitForecaster, WhereRowsAreFewItLooksLessFarAndSaysThat) {
  const Scenario scenario = ScenarioOf(std::vector<SmallJob>(40, {0, 4, 600}), "1x4", Rules());
  const auto policy = Fifo();
  const Observation moment = MomentOf(scenario, *policy, 0);
  const LengthModel lengths;  // knows nothing: they differ
  const WaitForecaster whole(Rules(), {.samples = 8}, nullptr);
  const WaitForecaster cut(Rules(), {.samples = 8, .most_rows = 8 * 200}, nullptr);
  const WaitForecast all = whole.Predict({moment}, lengths, *policy);
  const WaitForecast some = cut.Predict({moment}, lengths, *policy);
  EXPECT_EQ(all.until, moment.now + WaitForecastOptions{}.horizon);
  EXPECT_LT(some.until, all.until);
  EXPECT_LE(some.rows_shown, 8 * 200);
  EXPECT_GT(all.rows_shown, some.rows_shown);
  int within = 0;
  int later = 0;
  for (std::size_t j = 0; j < some.jobs.size(); ++j) {
    for (std::size_t l = 0; l < kForecastLevels.size(); ++l) {
      const Seconds start = some.jobs[j].start[l];
      ++(start == kNever ? later : within);
      if (start < kNever) {
        EXPECT_EQ(start, all.jobs[j].start[l]) << j;
      }
    }
  }
  EXPECT_GT(within, 3);
  EXPECT_GT(later, 3);
}

TEST(WaitForecaster, APolicyIsAskedNoSoonerThanItsStepUnlessSomethingHappens) {
  const Scenario scenario = ScenarioOf(std::vector<SmallJob>(3, {0, 4, 600}), "1x4", Rules());
  testing_support::ScriptedPolicy first({{4, 0, 0}});  // promises nothing
  const Observation moment = MomentOf(scenario, *Fifo(), 0);
  const auto rows = [&](double step) {
    const WaitForecaster forecaster(Rules(), {.samples = 4, .settle = 0, .step = step}, nullptr);
    return forecaster.Predict({moment}, AboutTenMinutes(), first).rows_shown;
  };
  EXPECT_LT(rows(0.5), rows(0) / 3);
}

std::vector<SmallJob> RandomJobs(int count, std::uint64_t seed, Seconds gap) {
  Rng rng(seed, "outlook-test");
  std::vector<SmallJob> jobs;
  Seconds submit = 0;
  for (int i = 0; i < count; ++i) {
    submit += rng.Exponential(gap);
    jobs.push_back({submit, static_cast<GpuCount>(1 + rng.Below(4)), 60 + rng.Exponential(3000)});
  }
  return jobs;
}

std::shared_ptr<const PastArrivals> PastOf(std::uint64_t seed, LengthModel* lengths) {
  const auto past =
      std::make_shared<const Scenario>(ScenarioOf(RandomJobs(1500, seed, 500), "4x4", Rules()));
  lengths->Learn(past->workload(), kNever);
  return std::make_shared<const PastArrivals>(past, kNever, 86400.0);
}

TEST(WaitForecaster, QuantilesAscendAndEndsAreNotBeforeStarts) {
  const Scenario scenario = ScenarioOf(RandomJobs(200, 3, 300), "4x4", Rules());
  for (const bool by_service : {false, true}) {
    const auto policy = by_service ? Las() : Fifo();
    const Observation moment = MomentOf(scenario, *policy, 40000);
    LengthModel lengths;
    const auto past = PastOf(4, &lengths);
    const auto jobs = Look(moment, lengths, *policy, {}, past);
    ASSERT_EQ(jobs.size(), moment.job.size());
    int waiting = 0;
    for (std::size_t r = 0; r < jobs.size(); ++r) {
      EXPECT_EQ(jobs[r].job, moment.job[r]);
      EXPECT_TRUE(std::is_sorted(jobs[r].end.begin(), jobs[r].end.end()));
      EXPECT_GE(jobs[r].end[0], moment.now);
      if (!jobs[r].waits) continue;
      ++waiting;
      EXPECT_TRUE(std::is_sorted(jobs[r].start.begin(), jobs[r].start.end()));
      for (std::size_t l = 0; l < 3; ++l) EXPECT_GE(jobs[r].end[l], jobs[r].start[l]);
    }
    EXPECT_GT(waiting, 0);
  }
}

TEST(WaitForecaster, TheSameSeedGivesTheSameQuantilesInAnyOrderOfRows) {
  const Scenario scenario = ScenarioOf(RandomJobs(200, 3, 300), "4x4", Rules());
  const auto policy = Las();
  const Observation moment = MomentOf(scenario, *policy, 40000);
  LengthModel lengths;
  const auto past = PastOf(4, &lengths);
  std::vector<std::int32_t> backward;
  for (std::int32_t r = moment.rows(); r-- > 0;) backward.push_back(r);
  const auto once = Look(moment, lengths, *policy, {.seed = 7}, past);
  const auto again = Look(InOrder(moment, backward), lengths, *policy, {.seed = 7}, past);
  const auto other = Look(moment, lengths, *policy, {.seed = 8}, past);
  int different = 0;
  for (std::size_t r = 0; r < once.size(); ++r) {
    const JobForecast& same = again[once.size() - 1 - r];
    EXPECT_EQ(once[r].job, same.job);
    EXPECT_EQ(once[r].end, same.end);
    if (once[r].waits) {
      EXPECT_EQ(once[r].start, same.start);
    }
    different += once[r].end != other[r].end ? 1 : 0;
  }
  EXPECT_GT(different, 0);
}

// Under least attained service who comes later goes first.
TEST(WaitForecaster, WhoMayStillComeDelaysWhoIsThere) {
  const Scenario scenario = ScenarioOf({{0, 4, 40000}}, "1x4", Rules());
  const auto policy = Las();
  const Observation moment = MomentOf(scenario, *policy, 0);
  const auto past =
      std::make_shared<const Scenario>(ScenarioOf(RandomJobs(1000, 5, 1500), "1x4", Rules()));
  const LengthModel lengths = AboutTenMinutes();
  const auto alone = Look(moment, lengths, *policy, {.samples = 16});
  const auto among = Look(moment, lengths, *policy, {.samples = 16},
                          std::make_shared<const PastArrivals>(past, kNever, 86400.0));
  EXPECT_GT(among[0].end[2], alone[0].end[2] + 100);
}

// A job of one size that would be submitted now.
HypotheticalJob SubmittedNow(const Scenario& scenario, JobIndex alike) {
  return {.table = scenario.facts(alike).table, .requested = scenario.facts(alike).requested};
}

// One job runs, one waits; a third would be alike.
TEST(WaitForecaster, AHypotheticalJobStartsWhenItWouldIfItWereSubmitted) {
  const Scenario scenario = ScenarioOf({{0, 4, 600}, {50, 4, 600}, {60, 4, 600}}, "1x4", Rules());
  const auto policy = Fifo();
  const Observation moment = MomentOf(scenario, *policy, 60);
  Observation before = moment;
  before.ClearJobs();
  for (const std::int32_t row : {0, 1}) before.Append(moment.Row(row), moment.shares_of(row));
  const LengthModel lengths = AboutTenMinutes();
  const WaitForecaster forecaster(Rules(), {.samples = 40, .step = 0.02}, nullptr);
  const TimeQuantiles submitted = forecaster.Predict({moment}, lengths, *policy).jobs[2].start;
  const HypotheticalJob asked[] = {SubmittedNow(scenario, 1), SubmittedNow(scenario, 1)};
  const StartForecasts starts = forecaster.PredictStarts({before}, asked, lengths, *policy);
  ASSERT_EQ(starts.jobs.size(), 2U);
  for (const StartForecast& start : starts.jobs) {
    EXPECT_EQ(start.start, submitted) << "each alone: the other one does not wait before it";
    EXPECT_EQ(start.ahead, std::vector<std::int32_t>{1});
  }
}

TEST(WaitForecaster, AHypotheticalJobOnAnIdleClusterStartsAtOnce) {
  const Scenario scenario = ScenarioOf({{0, 4, 600}}, "1x4", Rules());
  const auto policy = Fifo();
  Observation idle = MomentOf(scenario, *policy, 0);
  idle.ClearJobs();
  const HypotheticalJob asked = SubmittedNow(scenario, 0);
  const StartForecasts starts = WaitForecaster(Rules(), {.samples = 4}, nullptr)
                                    .PredictStarts({idle}, {&asked, 1}, LengthModel(), *policy);
  EXPECT_EQ(starts.jobs[0].start, (TimeQuantiles{0, 0, 0}));
}

TEST(WaitForecaster, ABadOptionIsNamedWithItsRule) {
  const auto message = [](const WaitForecastOptions& options) -> std::string {
    return ErrorOf(ExitCode::kUsage, [&] { WaitForecaster(Rules(), options, nullptr); });
  };
  EXPECT_EQ(message({.samples = -1}),
            "samples must be from 0 (chosen by the number of jobs) to 10000, got -1");
  EXPECT_EQ(message({.horizon = 0}), "the horizon must be finite and > 0 s, got 0");
  EXPECT_EQ(message({.most_rows = -2}), "most_rows must be >= 0 (0: any number), got -2");
  EXPECT_EQ(message({.step = -1}), "step must be >= 0, got -1");
  EXPECT_EQ(message({.correlations = {.alike = 2}}),
            "alike must be a correlation from 0 to 1, got 2");
}

TEST(PastLengths, AJobThatHasNotEndedTakesAsLongAsSomeLongerOne) {
  // At 1000 s the fourth has run for 900 s, the fifth for 100 s.
  const Workload trace = testing_support::WorkloadOf(
      {{0, 1, 50}, {0, 1, 300}, {0, 1, 800}, {100, 1, 90000}, {900, 1, 90000}, {1200, 1, 5}});
  const std::vector<Seconds> lengths = PastLengths(trace, 1000, 1);
  ASSERT_EQ(lengths.size(), 5U) << "later submissions are not known";
  EXPECT_EQ(lengths[2], 800);
  EXPECT_GE(lengths[3], 900) << "none took longer: a tail";
  EXPECT_NE(lengths[3], 90000) << "the truth is not known";
  EXPECT_TRUE(lengths[4] == 300 || lengths[4] == 800 || lengths[4] == lengths[3]) << lengths[4];
}

TEST(WaitForecaster, TakesLengthsAsEstimatedWhereAskedTo) {
  const Scenario scenario = ScenarioOf({{0, 4, 600}, {60, 4, 600}}, "1x4", Rules());
  const auto policy = Fifo();
  Observation moment = MomentOf(scenario, *policy, 60);
  const double rate = moment.table[0]->reference_rate();
  moment.estimated_work = {100 * rate, 250 * rate};
  const auto jobs = Look(moment, AboutTenMinutes(), *policy, {.as_estimated = true});
  EXPECT_NEAR(jobs[0].end[1], 100, 1e-6);
  EXPECT_NEAR(jobs[1].end[1], 100 + 250, 1e-6);
}

TEST(WaitForecaster, KeepsPriorities) {
  const Scenario scenario = ScenarioOf({{0, 4, 600}, {50, 4, 600}, {60, 4, 600}}, "1x4", Rules());
  Observation moment = MomentOf(scenario, *Fifo(), 60);
  moment.priority = {0, 1, 2};
  const auto policy = testing_support::Staged({.ordering = "priority:preemptive=false"});
  const auto jobs = Look(moment, AboutTenMinutes(), *policy);
  EXPECT_GT(jobs[1].start[0], jobs[2].end[0] - 1);
}

}  // namespace
}  // namespace allot
