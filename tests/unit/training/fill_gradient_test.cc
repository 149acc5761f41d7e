// The gradient of a sampled fill's log-probability (a Plackett-Luce ranking drawn as a race)
// against central differences of its definition.

#include <gtest/gtest.h>

#include "agents/training/sampled_fill.h"
#include "sched/policy.h"
#include "sim/simulated_cluster.h"
#include "tests/unit/training/fill_probability.h"
#include "tests/unit/training/small_world.h"

namespace allot {
namespace {

constexpr double kTau = 0.4;

class FillGradient : public testing::TestWithParam<const char*> {};

TEST_P(FillGradient, AgreesWithCentralDifferencesByEveryScore) {
  const auto scenario = RushScenario(12, GetParam(), true);
  SimulatedCluster cluster(*scenario);
  // Some run, so that kappa has either sign.
  Allocation first;
  MakePolicy("las")->Decide(cluster.Observe(), &first);
  cluster.Apply(first);
  cluster.WaitForChange(0);
  const Observation& o = cluster.Observe();

  SampledFill fill(kTau);
  double largest = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed, "fill-gradient");
    std::vector<Score> scores;
    std::vector<DoubleScore> exact;
    for (std::int32_t row = 0; row < o.rows(); ++row) {
      scores.push_back({static_cast<float>(rng.Normal()), static_cast<float>(rng.Uniform(0, 2)),
                        static_cast<float>(rng.Uniform(0, 0.5))});
      exact.push_back({scores.back().u, scores.back().beta, scores.back().kappa});
    }
    std::vector<Grant> grants;
    std::vector<Score> gradient;
    fill.Fill(o, scores, &rng, &grants, &gradient);
    ASSERT_FALSE(fill.draws().empty());
    for (std::size_t row = 0; row < exact.size(); ++row) {
      const auto check = [&](const char* name, double DoubleScore::*part, float actual) {
        constexpr double kStep = 1e-5;
        std::vector<DoubleScore> moved = exact;
        moved[row].*part += kStep;
        const double up = LogProbability(o, moved, kTau, fill.draws());
        moved[row].*part -= 2 * kStep;
        const double down = LogProbability(o, moved, kTau, fill.draws());
        const double expected = (up - down) / (2 * kStep);
        EXPECT_NEAR(actual, expected, 1e-4 * (1 + std::abs(expected)))
            << name << " of row " << row << ", seed " << seed;
        largest = std::max(largest, std::abs(expected));
      };
      check("u", &DoubleScore::u, gradient[row].u);
      check("beta", &DoubleScore::beta, gradient[row].beta);
      check("kappa", &DoubleScore::kappa, gradient[row].kappa);
    }
  }
  EXPECT_GT(largest, 0.5) << "there was something to compare";
}

INSTANTIATE_TEST_SUITE_P(Clusters, FillGradient, testing::Values("2x4", "1x3", "2x2:k80,1x4:v100"),
                         [](const auto& one) { return "Case" + std::to_string(one.index); });

}  // namespace
}  // namespace allot
