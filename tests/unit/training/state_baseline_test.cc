#include "agents/training/state_baseline.h"

#include <gtest/gtest.h>

#include "agents/learned/index_agent.h"
#include "agents/training/rollout.h"
#include "tests/unit/training/mean_square.h"
#include "tests/unit/training/small_world.h"

namespace allot {
namespace {

using Many = std::vector<std::vector<double>>;
using Backlogs = std::vector<std::vector<Backlog>>;

constexpr std::size_t kTogether = 6;
constexpr std::size_t kInstants = 40;

// Backlogs and returns that drift apart as those of rollouts do.
void Draw(Backlogs* backlogs, Many* returns) {
  for (std::size_t k = 0; k < kTogether; ++k) {
    Rng rng(1, "drift", k);
    Backlog at{};
    backlogs->emplace_back();
    returns->emplace_back();
    for (std::size_t t = 0; t < kInstants; ++t) {
      for (double& number : at) number += rng.Uniform(-1, 1);
      backlogs->back().push_back(at);
      returns->back().push_back(rng.Uniform(-1, 1));
    }
  }
}

TEST(StateBaseline, TakesAwayWhatTheBacklogSays) {
  Backlogs backlogs;
  Many returns;
  Draw(&backlogs, &returns);
  for (std::size_t k = 0; k < kTogether; ++k) {
    for (std::size_t t = 0; t < kInstants; ++t) {
      const Backlog& at = backlogs[k][t];
      returns[k][t] = 7 - 3 * at[0] - at[1] + 0.5 * at[2] - 2 * at[3];
    }
  }
  EXPECT_LT(MeanSquare(StateAdvantages(returns, backlogs)),
            1e-4 * MeanSquare(LeaveOneOutAdvantages(returns)));
}

// Without bias: what a rollout got by its actions stays in its advantages as it is.
TEST(StateBaseline, KeepsOfARolloutAllThatItsActionsChange) {
  Backlogs backlogs;
  Many returns;
  Draw(&backlogs, &returns);
  const Many before = StateAdvantages(returns, backlogs);
  returns[2][10] += 5;
  const Many after = StateAdvantages(returns, backlogs);
  for (std::size_t t = 0; t < kInstants; ++t) {
    EXPECT_NEAR(after[2][t] - before[2][t], t == 10 ? 5 : 0, 1e-12) << t;
  }
}

// Where the others did the same, their fit says nothing, whatever rounding leaves of it.
TEST(StateBaseline, EqualRolloutsTellNothingOfABacklog) {
  Backlogs backlogs;
  Many returns;
  Draw(&backlogs, &returns);
  for (std::size_t k = 1; k < kTogether; ++k) {
    backlogs[k] = backlogs[1];
    returns[k] = returns[1];
  }
  const Many plain = LeaveOneOutAdvantages(returns);
  const Many advantages = StateAdvantages(returns, backlogs);
  for (std::size_t t = 0; t < kInstants; ++t) EXPECT_EQ(advantages[0][t], plain[0][t]) << t;
}

TEST(StateBaseline, RolloutsMayEndApart) {
  const Many returns = {{-4, -2}, {-3}, {-5, -3, -1}};
  const Backlogs backlogs = {
      {{2, 2, 2, 2}, {1, 1, 1, 1}}, {{2, 2, 2, 2}}, {{2, 2, 2, 2}, {1, 2, 1, 1}, {1, 1, 1, 1}}};
  const Many advantages = StateAdvantages(returns, backlogs);
  ASSERT_EQ(advantages.size(), 3U);
  const Many plain = LeaveOneOutAdvantages(returns);
  for (std::size_t k = 0; k < 3; ++k) {
    ASSERT_EQ(advantages[k].size(), returns[k].size());
    EXPECT_NEAR(advantages[k][0], plain[k][0], 1e-12) << "equal backlogs explain nothing";
  }
  // Of rollouts 0 and 1 at the second instant: 1 against 0 jobs, a return of -2 against 0.
  EXPECT_GT(std::abs(advantages[2][1]), 0);
  EXPECT_LT(std::abs(advantages[2][1]), std::abs(plain[2][1]));
}

// What it is for: rollouts of the same arrivals differ most by where they have got to.
TEST(StateBaseline, HasLessVarianceThanTheSameArrivals) {
  const IndexNetWeights net(IndexAgentAt({.alpha = 0.25F, .beta = 0.3F, .kappa = 0.3F}, 4, 1));
  double arrivals = 0;
  double state = 0;
  for (std::size_t w = 0; w < 6; ++w) {
    const auto scenario = SmallScenario(w, 12 + 8 * static_cast<int>(w));
    Many returns;
    Backlogs backlogs;
    for (std::size_t k = 0; k < kTogether; ++k) {
      RolloutOptions options;
      options.backlogs = true;
      Rollout rollout = RunRollout(scenario, net, options, 1, w, k);
      returns.push_back(ReturnsFrom(rollout.reward_of_tick, 1));
      ASSERT_EQ(rollout.backlog_of_tick.size(), rollout.reward_of_tick.size());
      backlogs.push_back(std::move(rollout.backlog_of_tick));
    }
    arrivals += MeanSquare(LeaveOneOutAdvantages(returns));
    state += MeanSquare(StateAdvantages(returns, backlogs));
  }
  RecordProperty("variance_ratio", std::to_string(state / arrivals));
  EXPECT_LT(state / arrivals, 0.7);
}

}  // namespace
}  // namespace allot
