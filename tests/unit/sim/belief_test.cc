#include "sim/belief.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/parallel.h"
#include "perf/rate_fit.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

using testing_support::Fifo;
using testing_support::Jcts;
using testing_support::Las;
using testing_support::ScriptedPolicy;
using testing_support::SmallJob;
using testing_support::TextOf;
using testing_support::WorkloadOf;

using Times = std::vector<Seconds>;

// Twice as fast on two GPUs, no faster on four.
const Catalogue& Measured() {
  static const Catalogue catalogue = [] {
    Catalogue made;
    made.Add(MakeGpuScalingModel("m", {{"gpu", {{1, 10}, {2, 20}, {4, 20}}}}));
    return made;
  }();
  return catalogue;
}

Scenario Believed(const std::string& beliefs, const std::vector<SmallJob>& jobs,
                  const std::string& cluster = "1x4", SimOptions options = {}) {
  Workload workload = WorkloadOf(jobs);
  for (Job& job : workload.jobs) job.model = workload.models.Intern("m");
  options.beliefs = beliefs;
  return Scenario(std::move(workload), ClusterSpec::Parse(cluster), options, Measured());
}

// The rates at 1, 2 and 4 GPUs that the first row is shown, decision by decision.
class RateWatcher : public DecisionListener {
 public:
  void OnDecision(const Observation& o, const Allocation&) override {
    if (o.rows() == 0) return;
    std::vector<double> rates{o.now};
    for (const GpuCount gpus : {1, 2, 4}) {
      const std::int32_t c = o.table[0]->Find(gpus, 0);
      rates.push_back(c < 0 ? 0 : (*o.table[0])[c].rate);
    }
    seen.push_back(rates);
  }
  std::vector<std::vector<double>> seen;
};

void ExpectNear(const std::vector<double>& got, const std::vector<double>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], expected[i], 1e-9 * expected[i]) << "at " << i;
  }
}

TEST(BeliefTest, MeasuredBeginsWithThePriorAtThePaceAsRequestedAndLearnsWhatRan) {
  // It asks for 2 GPUs; the script gives 1, then 4, while all else waits.
  const Scenario scenario = Believed("measured", {{0, 2, 5000, 1, 4}});
  ScriptedPolicy policy({{1}, {1}, {4}, {4}, {4}});
  RateWatcher watcher;
  DecisionListener* const listeners[] = {&watcher};
  RunPolicy(scenario, policy, listeners);
  const double e = kPriorExponent;
  ASSERT_GE(watcher.seen.size(), 4U);
  // 20 at 2 GPUs, the rest by n^0.8.
  ExpectNear(watcher.seen[0], {0, 20 / std::pow(2, e), 20, 20 * std::pow(2, e)});
  // 1 GPU was measured: 10. Other sizes by the prior from there.
  ExpectNear(watcher.seen[1], {300, 10, 10 * std::pow(2, e), 10 * std::pow(4, e)});
  ExpectNear(watcher.seen[2], {600, 10, 10 * std::pow(2, e), 10 * std::pow(4, e)});
  // 4 GPUs too: 20; between them the ratio to the prior by ln n.
  ExpectNear(watcher.seen[3], {900, 10, std::sqrt(10 * 20), 20});
}

TEST(BeliefTest, TheNextJobOfAModelBeginsWithWhatIsKnown) {
  const Scenario scenario = Believed("measured", {{0, 1, 100, 1, 4}, {600, 2, 100, 1, 4}});
  RateWatcher watcher;
  DecisionListener* const listeners[] = {&watcher};
  RunPolicy(scenario, *Fifo(), listeners);
  ASSERT_EQ(watcher.seen.back().front(), 600);
  EXPECT_NEAR(watcher.seen.back()[1], 10, 1e-9);
  EXPECT_NEAR(watcher.seen.back()[2], 10 * std::pow(2, kPriorExponent), 1e-9);
}

TEST(BeliefTest, AMeasurementIsAnEventAndPoliciesAreAskedAgain) {
  // Alone for hours under a policy that is not time-driven: asked at its start, and at the next
  // instant after it was measured.
  const Scenario scenario = Believed("measured", {{0, 1, 30000}});
  RateWatcher watcher;
  DecisionListener* const listeners[] = {&watcher};
  RunPolicy(scenario, *Fifo(), listeners);
  ASSERT_EQ(watcher.seen.size(), 2U);
  EXPECT_EQ(watcher.seen[1].front(), 300);
}

TEST(BeliefTest, MeasuredFollowsARateThatChanges) {
  SimOptions options;
  options.progress = "phases:at=0.5,factors=0.5";
  options.decide_on_events = true;
  const Scenario scenario = Believed("measured", {{0, 1, 3000}}, "1x1", options);
  RateWatcher watcher;
  DecisionListener* const listeners[] = {&watcher};
  RunPolicy(scenario, *Fifo(), listeners);
  ASSERT_EQ(watcher.seen.size(), 3U);
  EXPECT_NEAR(watcher.seen[1][0], 2, 1e-5);
  EXPECT_NEAR(watcher.seen[1][1], 10, 1e-9);
  EXPECT_NEAR(watcher.seen[2][0], 1502, 1e-5);
  EXPECT_NEAR(watcher.seen[2][1], 5, 0.2);
}

TEST(BeliefTest, EveryBeliefFollowsTheRatesOfJobsWithoutAProfile) {
  SimOptions options;
  options.progress = "phases:at=0.5,factors=0.5";
  for (const char* beliefs : {"exact", "noisy:0.7", "measured"}) {
    options.beliefs = beliefs;
    const Scenario scenario = testing_support::ScenarioOf({{0, 1, 3000}}, "1x1", options);
    RateWatcher watcher;
    DecisionListener* const listeners[] = {&watcher};
    RunPolicy(scenario, *Fifo(), listeners);
    ASSERT_FALSE(watcher.seen.empty());
    EXPECT_EQ(watcher.seen.front()[1], 1) << beliefs;
    EXPECT_EQ(watcher.seen.back()[1], 0.5) << beliefs;
  }
}

TEST(BeliefTest, WhatIsPlayedDoesNotDependOnWhatIsBelieved) {
  const std::vector<SmallJob> jobs = {{0, 2, 900, 1, 4}, {100, 1, 700}, {200, 4, 500, 2, 4}};
  const std::string truth = TextOf(RunPolicy(Believed("exact", jobs), *Las()).records);
  for (const char* beliefs : {"noisy:1", "measured"}) {
    const Scenario scenario = Believed(beliefs, jobs);
    EXPECT_EQ(TextOf(RunPolicy(scenario, *Las()).records), truth)
        << beliefs << ": an order by service does not look at rates";
    EXPECT_EQ(scenario.facts(0).work, Believed("exact", jobs).facts(0).work);
  }
}

TEST(BeliefTest, NoiseIsAFunctionOfSeedProfileAndConfigurationAlone) {
  const auto rates_of = [](const Scenario& scenario, JobIndex job) {
    const auto belief = MakeBelief(scenario.options().beliefs, scenario);
    std::map<GpuCount, double> rates;
    for (const Configuration& c : belief->TableOf(job)->configurations()) {
      rates[c.demand.gpus] = c.rate;
    }
    return rates;
  };
  SimOptions options;
  options.seed = 5;
  const auto one = rates_of(Believed("noisy:0.5", {{0, 1, 10, 1, 4}}, "1x4", options), 0);
  // Other jobs before it, other limits: the same rates where both have one.
  const Scenario other = Believed("noisy:0.5", {{0, 4, 9}, {5, 2, 10, 2, 3}}, "1x4", options);
  for (const auto& [gpus, rate] : rates_of(other, 1)) EXPECT_EQ(rate, one.at(gpus)) << gpus;
  options.seed = 6;
  EXPECT_NE(rates_of(Believed("noisy:0.5", {{0, 1, 10, 1, 4}}, "1x4", options), 0), one);
  EXPECT_NE(one.at(1) / 10, one.at(2) / 20) << "an error of its own for each configuration";
}

TEST(BeliefTest, NoiseHasTheSpreadThatItSays) {
  SimOptions options;
  double sum = 0;
  double squares = 0;
  constexpr int kDraws = 400;
  for (int seed = 0; seed < kDraws; ++seed) {
    options.seed = static_cast<std::uint64_t>(seed);
    const Scenario scenario = Believed("noisy:0.5", {{0, 1, 10}}, "1x4", options);
    const double error = std::log((*MakeBelief("noisy:0.5", scenario)->TableOf(0))[0].rate / 10);
    sum += error;
    squares += error * error;
  }
  EXPECT_NEAR(sum / kDraws, 0, 4 * 0.5 / std::sqrt(kDraws));
  EXPECT_NEAR(std::sqrt(squares / kDraws), 0.5, 0.08);
}

TEST(BeliefTest, AnyNumberOfThreadsSeesTheSame) {
  const Scenario scenario =
      Believed("noisy:0.7", {{0, 2, 900, 1, 4}, {100, 1, 700, 1, 4}, {200, 4, 500, 2, 4}});
  std::vector<std::string> texts(8);
  ParallelFor(texts.size(), 4, [&](std::size_t i) {
    const auto policy = testing_support::Staged({.ordering = "remaining", .sizing = "hull"});
    texts[i] = TextOf(RunPolicy(scenario, *policy).records);
  });
  for (const std::string& text : texts) EXPECT_EQ(text, texts.front());
}

TEST(BeliefTest, JobsWithoutAProfileAreBelievedAsTheyAre) {
  SimOptions options;
  for (const char* beliefs : {"noisy:1", "measured"}) {
    options.beliefs = beliefs;
    const Scenario scenario = testing_support::ScenarioOf({{0, 2, 1000}}, "1x4", options);
    EXPECT_EQ(MakeBelief(beliefs, scenario)->TableOf(0), scenario.facts(0).table.get()) << beliefs;
  }
}

TEST(BeliefTest, UnknownNamesAndRangesAreErrors) {
  ExpectError(ExitCode::kUsage, {"belief", "measure", "measured"}, [] { CheckBelief("measure"); });
  ExpectError(ExitCode::kUsage, {"sigma", "-1"}, [] { CheckBelief("noisy:-1"); });
  ExpectError(ExitCode::kUsage, {"exact"}, [] { CheckBelief("exact:2"); });
}

}  // namespace
}  // namespace allot
