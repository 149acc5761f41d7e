// Rounds of whole units of work (SimOptions::whole_rounds), each case worked out by hand.

#include <gtest/gtest.h>

#include "sim/profile.h"
#include "stages/rounds/shared_policy.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

using testing_support::Fifo;
using testing_support::Jcts;
using testing_support::ScenarioOf;
using testing_support::SmallJob;
using testing_support::WorkloadOf;
using Times = std::vector<Seconds>;

SimOptions WholeRounds() {
  SimOptions options;
  options.interval = 100;
  options.restart_cost = 0;
  options.whole_rounds = true;
  options.most_failures = 5;
  return options;
}

// Jobs of one GPU type that do `rate` units a second at the GPUs they ask for.
Scenario WithRates(const std::vector<SmallJob>& jobs, const std::vector<double>& rates,
                   const std::string& cluster, const SimOptions& options) {
  std::vector<Scenario::JobFacts> facts;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto gpus = static_cast<std::int16_t>(jobs[i].gpus);
    std::vector<Configuration> one = {{.units = {gpus},
                                       .demand = {gpus, 0},
                                       .cost = static_cast<double>(gpus),
                                       .rate = rates[i]}};
    Scenario::JobFacts fact;
    fact.table = std::make_shared<ConfigurationTable>("t", std::vector<UnitKind>{{"gpu", {1, 0}}},
                                                      std::move(one));
    fact.work = fact.estimate = jobs[i].duration;  // in units of work
    facts.push_back(std::move(fact));
  }
  return Scenario(WorkloadOf(jobs), ClusterSpec::Parse(cluster), options, std::move(facts));
}

std::unique_ptr<Policy> Shared(const std::string& params) {
  const PolicyInfo info = SharedPolicyInfo("shared", "for tests", {.sharing = "isolated"});
  return info.make(Params("policy 'shared'", info.params, ParseNamedParams("s:" + params).given));
}

// As the profile gavel has it.
std::string GavelParams() {
  return "placement=sticky,reset=1920,lease=0,residues=true,hold=true,by-work=true,global=false,"
         "leftovers=in-turn";
}

TEST(WholeRounds, ARoundEndsWithItsLongestPart) {
  // 0.29 units a second: 29 in a round, done after 100 s; 0.3: 30; 0.299: 29 after 29 / 0.299 s.
  const Scenario scenario = WithRates({{0, 1, 58}, {0, 1, 40}}, {0.299, 0.3}, "2x1", WholeRounds());
  SimulatedCluster cluster(scenario);
  const auto policy = Fifo();
  Drive(cluster, *policy, {}, {}, {.time_decisions = false});
  const Seconds first = std::max(29 / 0.299, 30 / 0.3);
  EXPECT_EQ(cluster.records()[0].finish, first + 29 / 0.299);
  EXPECT_EQ(cluster.records()[1].finish, first + 10 / 0.3);
  EXPECT_EQ(cluster.Observe().now, first + 29 / 0.299);
}

TEST(WholeRounds, GpusAreBusyUntilTheirPartIsDone) {
  const Scenario scenario = WithRates({{0, 1, 20}, {0, 1, 50}}, {1, 1}, "3x1", WholeRounds());
  SimulatedCluster cluster(scenario);
  Drive(cluster, *Fifo(), {}, {}, {.time_decisions = false});
  EXPECT_EQ(cluster.busy_seconds(), (Times{20, 50, 0}));
}

TEST(WholeRounds, AGapCountsAsBusyOnRequestOnly) {
  for (const bool gaps : {false, true}) {
    SimOptions options = WholeRounds();
    options.busy_gaps = gaps;
    const Scenario scenario = WithRates({{0, 1, 20}, {300, 1, 50}}, {1, 1}, "1x1", options);
    SimulatedCluster cluster(scenario);
    Drive(cluster, *Fifo(), {}, {}, {.time_decisions = false});
    EXPECT_EQ(cluster.busy_seconds(), (Times{gaps ? 20.0 + 330 : 70})) << gaps;
    EXPECT_EQ(cluster.records()[1].finish, 350);
  }
}

TEST(WholeRounds, ARestartTakesItsTimeFromTheRound) {
  SimOptions options = WholeRounds();
  options.restart_cost = 30;
  const Scenario scenario = WithRates({{0, 1, 250}, {0, 1, 250}}, {1, 1}, "1x1", options);
  // They take turns: 100, 100, then 70 each round.
  const RunOutcome outcome = RunPolicy(scenario, *Shared("lease=0"));
  EXPECT_EQ(outcome.records[0].restarts + 1, outcome.records[0].launches());
  EXPECT_GT(outcome.records[0].restarts, 0);
  for (const JobRecord& record : outcome.records) {
    const double lost = 30.0 * record.restarts;
    EXPECT_EQ(record.gpu_seconds, 250 + lost) << record.job;
  }
}

TEST(WholeRounds, LessThanAUnitForEachGpuFailsAndDropsTheJob) {
  // 3 units are left of 103, for 4 GPUs: five rounds fail. Of one GPU the rest is done.
  const Scenario scenario = WithRates({{0, 4, 103}, {0, 1, 103}}, {1, 1}, "1x5", WholeRounds());
  SimulatedCluster cluster(scenario);
  Drive(cluster, *Fifo(), {}, {}, {.time_decisions = false});
  EXPECT_EQ(cluster.records()[0].finish, kNever);
  EXPECT_EQ(cluster.records()[1].finish, 103);
  EXPECT_EQ(cluster.Observe().now, 100 + 5 * 3);
  EXPECT_EQ(cluster.busy_seconds()[0], 100);
}

TEST(WholeRounds, AnArrivalWaitsForTheRoundToEnd) {
  const Scenario scenario = WithRates({{0, 1, 150}, {10, 1, 5}}, {1, 1}, "2x1", WholeRounds());
  EXPECT_EQ(Jcts(RunPolicy(scenario, *Fifo())), (Times{150, 95}));
}

// Workload quirk_gap of the reference data: a lone job's arrival is too soon after the last shares,
// and then nothing happens until the next arrival.
TEST(WholeRounds, WithResetAJobWaitsOnAnIdleCluster) {
  SimOptions options = WholeRounds();
  options.interval = 360;
  const Scenario scenario = WithRates({{0, 1, 200}, {3000, 1, 70}, {3400, 1, 70}, {50000, 1, 70}},
                                      {1, 1, 1, 1}, "2x1", options);
  EXPECT_EQ(Jcts(RunPolicy(scenario, *Shared(GavelParams()))),
            (Times{200, 70, 50000 - 3400 + 70, 70}));
  EXPECT_EQ(Jcts(RunPolicy(scenario, *Shared("lease=0"))), (Times{200, 70, 70, 70}));
}

// Where nobody is to come either, time stands still until new shares are made.
TEST(WholeRounds, WithNobodyToComeTheWaitIsOver) {
  SimOptions options = WholeRounds();
  options.interval = 360;
  const Scenario scenario =
      WithRates({{0, 1, 200}, {3000, 1, 70}, {3400, 1, 70}}, {1, 1, 1}, "2x1", options);
  EXPECT_EQ(Jcts(RunPolicy(scenario, *Shared(GavelParams()))), (Times{200, 70, 70}));
}

TEST(WholeRounds, AreOfNodesThatStay) {
  SimOptions options = WholeRounds();
  options.node_events = {{.time = 10, .node = 0}};
  ExpectError(ExitCode::kUsage, {"whole rounds", "1 events"}, [&] {
    ScenarioOf({{0, 1, 100}}, "2x1", options);
  });
}

}  // namespace
}  // namespace allot
