#include "agents/training/sampled_fill.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "sim/simulated_cluster.h"
#include "tests/unit/training/small_world.h"

namespace allot {
namespace {

std::vector<std::int32_t> ConfigurationOfRow(const std::vector<Grant>& grants, std::int32_t rows) {
  std::vector<std::int32_t> of(static_cast<std::size_t>(rows), -1);
  for (const Grant& grant : grants) of[static_cast<std::size_t>(grant.row)] = grant.configuration;
  return of;
}

TEST(SampledFill, IsTheHullFillAtLowTemperature) {
  const auto scenario = RushScenario(10, "3x4", true);
  const SimulatedCluster cluster(*scenario);
  const Observation& o = cluster.Observe();
  std::vector<std::int32_t> rows(static_cast<std::size_t>(o.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    // Weights span 600 tau: keys are close enough for that and far enough apart to have an order.
    Rng numbers(seed, "scores");
    std::vector<std::int32_t> place = rows;
    for (std::size_t i = place.size(); i > 1; --i) std::swap(place[i - 1], place[numbers.Below(i)]);
    std::vector<Score> scores;
    scores.reserve(place.size());
    for (const std::int32_t at : place)
      scores.push_back({0.17F * static_cast<float>(at), 0.3F, 0.1F});
    std::vector<Grant> greedy;
    HullFill().Fill(o, rows, scores, &greedy);
    std::vector<Grant> sampled;
    std::vector<Score> gradient;
    Rng exploration(seed, "exploration");
    SampledFill(0.003).Fill(o, scores, &exploration, &sampled, &gradient);
    EXPECT_EQ(ConfigurationOfRow(sampled, o.rows()), ConfigurationOfRow(greedy, o.rows()))
        << "scores of seed " << seed;
  }
}

// Two equal jobs, one GPU: the sampled fill is a softmax of two keys.
TEST(SampledFill, TwoJobsForOneSlotAreASoftmax) {
  const auto scenario = RushScenario(2, "1x1", false);
  const SimulatedCluster cluster(*scenario);
  constexpr double kTemperature = 0.5;
  const std::vector<Score> scores = {{0.3F, 0, 0}, {0, 0, 0}};
  const double p = 1 / (1 + std::exp(-0.3 / kTemperature));
  SampledFill fill(kTemperature);
  Rng rng(1, "exploration");
  constexpr int kDraws = 20000;
  int first = 0;
  for (int i = 0; i < kDraws; ++i) {
    std::vector<Grant> grants;
    std::vector<Score> gradient;
    fill.Fill(cluster.Observe(), scores, &rng, &grants, &gradient);
    ASSERT_EQ(grants.size(), 1U);
    const bool won = grants[0].row == 0;
    first += won ? 1 : 0;
    ASSERT_NEAR(gradient[0].u, ((won ? 1 : 0) - p) / kTemperature, 1e-5);
    ASSERT_NEAR(gradient[1].u, ((won ? 0 : 1) - (1 - p)) / kTemperature, 1e-5);
  }
  EXPECT_NEAR(static_cast<double>(first) / kDraws, p, 5 * std::sqrt(p * (1 - p) / kDraws));
}

// The mean of a score function is 0 by each parameter: sum over outcomes of dP = d 1.
TEST(SampledFill, MeanGradientIsZero) {
  const auto scenario = RushScenario(6, "2x4", true);
  const SimulatedCluster cluster(*scenario);
  const Observation& o = cluster.Observe();
  std::vector<Score> scores;
  scores.reserve(6);
  for (int i = 0; i < 6; ++i) scores.push_back({0.2F * static_cast<float>(i), 0.5F, 0.1F});
  constexpr int kDraws = 20000;
  std::vector<double> sum(18, 0.0);
  std::vector<double> squares(18, 0.0);
  SampledFill fill(0.5);
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    Rng rng(draw, "exploration");
    std::vector<Grant> grants;
    std::vector<Score> gradient;
    fill.Fill(o, scores, &rng, &grants, &gradient);
    for (std::size_t row = 0; row < 6; ++row) {
      const double values[] = {gradient[row].u, gradient[row].beta, gradient[row].kappa};
      for (std::size_t k = 0; k < 3; ++k) {
        sum[row * 3 + k] += values[k];
        squares[row * 3 + k] += values[k] * values[k];
      }
    }
  }
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const double mean = sum[i] / kDraws;
    const double error = std::sqrt(squares[i] / kDraws / kDraws);
    if (i % 3 == 0) {
      EXPECT_GT(error, 0) << "u of row " << i / 3 << " never had a gradient";
    }
    EXPECT_LT(std::abs(mean), 5 * error + 1e-6) << "row " << i / 3 << ", output " << i % 3;
  }
}

TEST(SampledFill, EqualNumbersGiveEqualFills) {
  const auto scenario = RushScenario(6, "2x4", true);
  const SimulatedCluster cluster(*scenario);
  const Observation& o = cluster.Observe();
  const std::vector<Score> scores(6);
  SampledFill fill(0.5);
  std::set<std::vector<std::int32_t>> fills;
  for (std::uint64_t draw = 0; draw < 20; ++draw) {
    std::vector<std::vector<std::int32_t>> twice;
    for (int k = 0; k < 2; ++k) {
      Rng rng(draw, "exploration");
      std::vector<Grant> grants;
      std::vector<Score> gradient;
      fill.Fill(o, scores, &rng, &grants, &gradient);
      twice.push_back(ConfigurationOfRow(grants, o.rows()));
    }
    EXPECT_EQ(twice[0], twice[1]) << "draw " << draw;
    fills.insert(twice[0]);
  }
  EXPECT_GT(fills.size(), 1U) << "different numbers explore";
}

}  // namespace
}  // namespace allot
