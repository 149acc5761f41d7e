#include "agents/lookahead/chooser.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "sim/run.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

using testing_support::Jcts;
using testing_support::ScenarioOf;

Seconds MeanJct(const Scenario& scenario, const std::string& spec) {
  Seconds sum = 0;
  const std::vector<Seconds> jcts = Jcts(RunPolicy(scenario, *MakePolicy(spec)));
  for (const Seconds jct : jcts) sum += jct;
  return sum / static_cast<double>(jcts.size());
}

// A long job before short ones, all there from the start: fifo is bad, srtf is right.
Scenario LongFirst() {
  SimOptions options;
  options.lengths = LengthEstimates::Parse("true");
  return ScenarioOf({{0, 1, 9000}, {0, 1, 600}, {0, 1, 600}}, "1x1", options);
}

PolicyInfo Info() {
  PolicyInfo info;
  info.id = "chooser";
  info.time_driven = true;
  return info;
}

TEST(LookaheadChooserTest, TakesTheCandidateWithTheBestFuture) {
  const Scenario scenario = LongFirst();
  LookaheadChooser chooser(Info(), {"fifo", "srtf"}, {});
  SimulatedCluster cluster(scenario);
  chooser.OnEpisodeStart({.seed = 0, .cluster = &scenario.cluster()});
  Allocation allocation;
  chooser.Decide(cluster.Observe(), &allocation);
  EXPECT_EQ(chooser.chosen(), 1U);
  ASSERT_EQ(allocation.entries().size(), 1U);
  EXPECT_EQ(allocation.entries()[0].job, 1);
}

TEST(LookaheadChooserTest, EqualFuturesGoToTheFirst) {
  const Scenario scenario = ScenarioOf({{0, 1, 900}}, "1x1");
  LookaheadChooser chooser(Info(), {"las", "fifo", "srtf"}, {});
  RunPolicy(scenario, chooser);
  EXPECT_EQ(chooser.chosen(), 0U);
}

TEST(LookaheadChooserTest, BetweenChoicesTheLastChosenDecides) {
  // The first choice, with job 0 alone, is fifo; with every=1000 it stays so when the short one
  // comes.
  SimOptions options;
  options.lengths = LengthEstimates::Parse("true");
  const Scenario scenario = ScenarioOf({{0, 1, 9000}, {300, 1, 300}}, "1x1", options);
  ChooserOptions rarely;
  rarely.every = 1000;
  LookaheadChooser chooser(Info(), {"fifo", "srtf"}, rarely);
  EXPECT_EQ(Jcts(RunPolicy(scenario, chooser)), (std::vector<Seconds>{9000, 9000}));
  LookaheadChooser often(Info(), {"fifo", "srtf"}, {});
  EXPECT_LT(Jcts(RunPolicy(scenario, often))[1], 9000);
}

TEST(DynamicPolicyTest, IsAsGoodAsItsBestCandidateWhereNobodyElseComes) {
  const Scenario scenario = LongFirst();
  EXPECT_DOUBLE_EQ(MeanJct(scenario, "dynamic"), MeanJct(scenario, "srtf"));
}

TEST(DynamicPolicyTest, CandidatesMayHaveParametersAndNoStages) {
  const Scenario scenario = LongFirst();
  EXPECT_GT(MeanJct(scenario,
                    "dynamic:policies=index/alpha=1/beta=0|las/service=seconds,"
                    "admissions=accept-all"),
            0);
  ExpectError(ExitCode::kUsage, {"unknown policy 'sjff'", "sjf"},
              [] { MakePolicy("dynamic:policies=sjff"); });
}

TEST(RolloutPolicyTest, FindsThePointOfItsGridThatFits) {
  const Scenario scenario = LongFirst();
  EXPECT_LE(MeanJct(scenario, "rollout:alpha=-1,alphas=0|1,horizon=0"),
            MeanJct(scenario, "index:alpha=-1"));
}

TEST(ClairvoyantPolicyTest, MoreEpisodesAreNeverWorse) {
  const Scenario scenario = LongFirst();
  const Seconds few = MeanJct(scenario, "clairvoyant:budget=1");
  const Seconds many = MeanJct(scenario, "clairvoyant:budget=60");
  EXPECT_LE(many, few);
  EXPECT_LE(many, MeanJct(scenario, "srtf"));
}

TEST(ClairvoyantPolicyTest, WithoutForesightItSaysSo) {
  const Scenario scenario = LongFirst();
  SimulatedCluster cluster(scenario);
  const auto policy = MakePolicy("clairvoyant");
  policy->OnEpisodeStart({.seed = 0, .cluster = &scenario.cluster()});
  Allocation allocation;
  ExpectError(ExitCode::kUsage, {"'clairvoyant'", "foresight"},
              [&] { policy->Decide(cluster.Observe(), &allocation); });
}

}  // namespace
}  // namespace allot
