#include "agents/training/rollout.h"

#include <gtest/gtest.h>

#include <cmath>

#include "agents/learned/index_agent.h"
#include "tests/unit/training/mean_square.h"
#include "tests/unit/training/small_world.h"

namespace allot {
namespace {

using Series = std::vector<std::vector<double>>;

const IndexNetWeights& Weights() {
  static const IndexNetWeights weights =
      IndexAgentAt({.alpha = 0.25F, .beta = 0.3F, .kappa = 0.3F}, 4, 1);
  return weights;
}

TEST(Returns, AreDiscountedSums) {
  EXPECT_EQ(ReturnsFrom({1, 2, 4}, 0.5), (std::vector<double>{3, 4, 4}));
  EXPECT_TRUE(ReturnsFrom({}, 0.5).empty());
}

TEST(Advantages, LeaveTheOwnReturnOutOfTheBaseline) {
  EXPECT_EQ(LeaveOneOutAdvantages({{6}, {3}, {0}}), (Series{{4.5}, {0}, {-4.5}}));
}

TEST(Advantages, RolloutsThatEndedCountAsZero) {
  EXPECT_EQ(LeaveOneOutAdvantages({{3, 1}, {1}}), (Series{{2, 1}, {-2}}));
}

// What the baseline is for: most of a return's variance is in what arrived, not in what was
// decided.
TEST(Advantages, SameArrivalsHaveMuchLessVariance) {
  constexpr std::size_t kWorkloads = 6;
  constexpr std::size_t kRollouts = 6;
  std::vector<Series> returns(kWorkloads);
  for (std::size_t w = 0; w < kWorkloads; ++w) {
    // At several loads, as in every batch of training.
    const auto scenario = SmallScenario(w, 12 + 8 * static_cast<int>(w));
    for (std::size_t k = 0; k < kRollouts; ++k) {
      returns[w].push_back(
          ReturnsFrom(RunRollout(scenario, Weights(), {}, 1, w, k).reward_of_tick, 0.997));
    }
  }
  double same = 0;
  double mixed = 0;
  for (std::size_t i = 0; i < kWorkloads; ++i) {
    Series others;  // one rollout of each workload
    for (std::size_t w = 0; w < kWorkloads; ++w) others.push_back(returns[w][i]);
    same += MeanSquare(LeaveOneOutAdvantages(returns[i]));
    mixed += MeanSquare(LeaveOneOutAdvantages(others));
  }
  RecordProperty("variance_ratio", std::to_string(same / mixed));
  EXPECT_LT(same / mixed, 0.1);
}

TEST(Rollout, EqualNamesGiveEqualRollouts) {
  const auto scenario = SmallScenario(3);
  const RolloutOptions options{.keep = 0.5};
  const Rollout a = RunRollout(scenario, Weights(), options, 1, 2, 3);
  const Rollout b = RunRollout(scenario, Weights(), options, 1, 2, 3);
  EXPECT_EQ(a.jobs, b.jobs);
  EXPECT_EQ(a.score_gradient, b.score_gradient);
  EXPECT_EQ(a.tick_of_decision, b.tick_of_decision);
  EXPECT_EQ(a.reward_of_tick, b.reward_of_tick);
  EXPECT_NE(a.reward_of_tick, RunRollout(scenario, Weights(), options, 1, 2, 4).reward_of_tick);
}

TEST(Rollout, KeptDecisionsAreConsistent) {
  const Rollout rollout = RunRollout(SmallScenario(3), Weights(), {.keep = 0.5}, 1, 0, 0);
  const std::size_t decisions = rollout.tick_of_decision.size();
  const std::size_t rows = rollout.decision_of_job.size();
  ASSERT_GT(decisions, 0U);
  EXPECT_EQ(rollout.contexts.size(), decisions * kContextFeatures);
  EXPECT_EQ(rollout.jobs.size(), rows * kJobFeatures);
  EXPECT_EQ(rollout.score_gradient.size(), rows * kIndexOutputs);
  EXPECT_EQ(rollout.decision_of_job.back(), static_cast<std::int64_t>(decisions) - 1);
  double sum = 0;
  for (const double reward : rollout.reward_of_tick) sum += reward;
  EXPECT_NEAR(sum, rollout.total_reward, 1e-6 * std::abs(sum));
}

TEST(Rollout, KeptNoiseHasOneGradientAPeriod) {
  constexpr int kPeriod = 4;
  const Rollout rollout =
      RunRollout(SmallScenario(1), Weights(), {.noise_interval = kPeriod}, 1, 0, 0);
  ASSERT_FALSE(rollout.tick_of_decision.empty());
  std::int32_t last = -1;
  for (const std::int32_t tick : rollout.tick_of_decision) {
    EXPECT_GT(tick / kPeriod, last) << "tick " << tick;
    last = tick / kPeriod;
  }
}

}  // namespace
}  // namespace allot
