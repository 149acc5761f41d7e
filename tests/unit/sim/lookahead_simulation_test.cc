#include "sim/lookahead_simulation.h"

#include <gtest/gtest.h>

#include "core/rng.h"
#include "tests/unit/sched/world.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

using testing_support::Permuted;
using testing_support::Shuffled;
using testing_support::SmallJob;
using testing_support::Staged;

// What a run observes at its decision number `at`.
class Snapshot : public DecisionListener {
 public:
  explicit Snapshot(std::int64_t at) : at_(at) {}
  void OnDecision(const Observation& o, const Allocation&) override {
    if (o.decision == at_) observation = o;
  }
  Observation observation;

 private:
  std::int64_t at_;
};

struct World {
  SimOptions options;
  Scenario scenario;

  explicit World(const SimOptions& with) : options(with), scenario(Make(with)) {}
  static Scenario Make(SimOptions options) {
    Rng rng(5, "outlook");
    std::vector<SmallJob> jobs;
    for (int i = 0; i < 25; ++i) {
      const auto gpus = static_cast<GpuCount>(1 + rng.Below(4));
      jobs.push_back({10.0 * i, gpus, 100 + rng.Exponential(1500)});
    }
    options.lengths = LengthEstimates::Parse("true");
    options.restart_cost = 0;
    return testing_support::ScenarioOf(jobs, "2x4", options);
  }

  // Job-seconds that the run itself has from decision `at` on.
  double Rest(Policy& policy, std::int64_t at, Observation* then) const {
    Snapshot snapshot(at);
    DecisionListener* const listeners[] = {&snapshot};
    const RunOutcome outcome = RunPolicy(scenario, policy, listeners);
    *then = snapshot.observation;
    double sum = 0;
    for (const JobRecord& record : outcome.records) {
      sum += std::max(0.0, record.finish - snapshot.observation.now);
    }
    return sum;
  }
};

class LookaheadSimulationTest : public testing::TestWithParam<StageSpecs> {};

TEST_P(LookaheadSimulationTest, WithTrueLengthsAndNoArrivalsItIsWhatHappens) {
  for (const bool whole : {false, true}) {
    SimOptions options;
    options.charge_whole_intervals = whole;
    const World world(options);
    const auto policy = Staged(GetParam());
    Observation then;
    const double happened = world.Rest(*policy, 4, &then);
    ASSERT_GT(then.rows(), 5);
    const LookaheadSimulation simulation(then, options);
    EXPECT_NEAR(simulation.CompletionSum(*policy, {}), happened, 1e-6 * happened);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Policies, LookaheadSimulationTest,
    testing::Values(StageSpecs{.ordering = "submit"}, StageSpecs{.ordering = "remaining"},
                    StageSpecs{.ordering = "attained"},
                    StageSpecs{.admission = "load:factor=1.2", .ordering = "submit"}));

TEST(LookaheadSimulationTest, TheOrderOfRowsDoesNotMatter) {
  const World world({});
  const auto srtf = Staged({.ordering = "remaining"});
  Observation then;
  world.Rest(*srtf, 4, &then);
  Rng rng(1, "order");
  const Observation shuffled = Permuted(then, Shuffled(then.job.size(), &rng));
  EXPECT_EQ(LookaheadSimulation(shuffled, {}).CompletionSum(*srtf, {}),
            LookaheadSimulation(then, {}).CompletionSum(*srtf, {}));
}

TEST(LookaheadSimulationTest, BehindTheHorizonNothingIsWorseThanTheFuture) {
  const World world({});
  const auto fifo = Staged({.ordering = "submit"});
  Observation then;
  world.Rest(*fifo, 4, &then);
  const LookaheadSimulation simulation(then, {});
  const double future = simulation.CompletionSum(*fifo, {});
  EXPECT_LE(simulation.CompletionSum(*fifo, {.horizon = 600}), future * (1 + 1e-9));
  EXPECT_EQ(simulation.CompletionSum(*fifo, {.give_up = 0.5 * future}), kNever);
}

TEST(LookaheadSimulationTest, AJobThatNoNodeIsLeftForIsReckonedAndNoError) {
  SimOptions options;
  options.lengths = LengthEstimates::Parse("true");
  const Scenario scenario =
      testing_support::ScenarioOf({{0, 6, 1000}, {0, 2, 1000}}, "2x4", options);
  const SimulatedCluster cluster(scenario);
  Observation o = cluster.Observe();
  const ClusterSpec left = ClusterSpec::Parse("1x4");  // one of the two nodes is down
  o.cluster = &left;
  const double sum = LookaheadSimulation(o, {}).CompletionSum(*testing_support::Fifo(), {});
  EXPECT_GE(sum, 1000 + 2000) << "the second job ends at 1000 s, the first at 2000 s at best";
  EXPECT_LT(sum, kNever);
}

TEST(LookaheadSimulationTest, TheEstimateIsWhatAJobIsReckonedToTake) {
  testing_support::World moment("1x1");
  moment.Add({{1.0}});
  moment.o.now = 300;
  moment.o.done_work[0] = 40;
  moment.o.estimated_work[0] = 100;
  const auto fifo = Staged({.ordering = "submit"});
  EXPECT_DOUBLE_EQ(LookaheadSimulation(moment.o, {}).CompletionSum(*fifo, {}), 60);
}

}  // namespace
}  // namespace allot
