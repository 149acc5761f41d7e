// Exploration by normal noise on each job's numbers: what is drawn, and that its score function is
// the gradient of what the choices made of the numbers are worth.

#include "agents/training/value_noise.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/simulated_cluster.h"
#include "tests/unit/training/small_world.h"

namespace allot {
namespace {

constexpr double kNoiseTau = 0.3;
constexpr NumbersPolicy::PerOutput kNoiseSteps = {1.0F, 0.2F, 2.0F};

TEST(ValueNoise, MovesEveryOutputByItsStep) {
  constexpr int kDraws = 4000;
  const std::vector<JobIndex> jobs = {3};
  std::vector<float> moved;
  std::vector<float> gradient;
  std::array<double, kIndexOutputs> sum{};
  std::array<double, kIndexOutputs> squares{};
  for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
    ValueNoise(kNoiseTau, kNoiseSteps)
        .Move(seed, jobs, std::vector<float>{1, 2, 3}, &moved, &gradient);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const double by = moved[i] - (1.0 + static_cast<double>(i));
      sum[i] += by / kDraws;
      squares[i] += by * by / kDraws;
    }
  }
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const double deviation = kNoiseTau * kNoiseSteps[i];
    EXPECT_NEAR(sum[i], 0, 0.05 * deviation) << "output " << i;
    EXPECT_NEAR(std::sqrt(squares[i]), deviation, 0.05 * deviation) << "output " << i;
  }
}

TEST(ValueNoise, OfAJobDoesNotDependOnOtherJobs) {
  const ValueNoise noise(kNoiseTau, kNoiseSteps);
  std::vector<float> alone;
  std::vector<float> among;
  std::vector<float> gradient;
  noise.Move(1, std::vector<JobIndex>{7}, std::vector<float>(3), &alone, &gradient);
  noise.Move(1, std::vector<JobIndex>{2, 7, 9}, std::vector<float>(9), &among, &gradient);
  EXPECT_EQ(alone, std::vector<float>(among.begin() + 3, among.begin() + 6));
  EXPECT_NE(alone, std::vector<float>(among.begin(), among.begin() + 3));
}

// Two equal jobs and room for one. The score function's estimate of d P(the first one runs) / du of
// it, against the difference of that probability at two u, decided by each network's own rule.
class ChoiceGradient : public testing::TestWithParam<Serving> {};

TEST_P(ChoiceGradient, IsThatOfTheProbability) {
  const auto scenario = RushScenario(2, "1x1", false);
  const SimulatedCluster cluster(*scenario);
  const Observation& o = cluster.Observe();
  const Agent agent{MakeNetwork("offsets:hidden=2", 1), {}};
  const auto policy = MakeNumbersPolicy(agent, GetParam());
  policy->OnEpisodeStart({});
  policy->Think(o);
  const ValueNoise noise(kNoiseTau, policy->Steps());
  constexpr int kDraws = 20000;
  Allocation allocation;
  std::vector<float> moved;
  std::vector<float> gradient;
  const auto runs = [&](double first, std::uint64_t seed) {
    std::vector<float> outputs(policy->outputs().begin(), policy->outputs().end());
    outputs[0] += static_cast<float>(first);
    noise.Move(seed, o.job, outputs, &moved, &gradient);
    policy->Act(o, moved, &allocation);
    return allocation.entries().front().job == o.job[0] ? 1.0 : 0.0;
  };
  const double deviation = kNoiseTau * policy->Steps()[0];
  const double step = 0.5 * deviation;
  double estimate = 0;
  double more = 0;
  double less = 0;
  for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
    more += runs(step, seed) / kDraws;
    less += runs(-step, seed) / kDraws;
    estimate += runs(0, seed) * gradient[0] / kDraws;
  }
  const double expected = (more - less) / (2 * step);
  EXPECT_GT(expected, 0.1 / deviation);
  EXPECT_NEAR(estimate, expected, 0.08 * expected);
}

INSTANTIATE_TEST_SUITE_P(Rules, ChoiceGradient,
                         testing::Values(Serving{.index = "index:alpha=0"},
                                         Serving{.index = "index:alpha=0,joint=true"}),
                         [](const auto& tested) {
                           return tested.index == 0 ? "StepByStep" : "AllTogether";
                         });

}  // namespace
}  // namespace allot
