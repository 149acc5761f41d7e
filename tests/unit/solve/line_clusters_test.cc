#include "solve/line_clusters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/rng.h"

namespace allot {
namespace {

double CostOf(const std::vector<double>& numbers, const std::vector<double>& centres) {
  double cost = 0;
  for (const double number : numbers) {
    double least = std::numeric_limits<double>::infinity();
    for (const double centre : centres) least = std::min(least, std::abs(number - centre));
    cost += least * least;
  }
  return cost;
}

// By trying all ways to cut the sorted numbers.
double LeastCost(std::vector<double> numbers, int count) {
  std::sort(numbers.begin(), numbers.end());
  const auto n = static_cast<int>(numbers.size());
  double least = std::numeric_limits<double>::infinity();
  for (unsigned cuts = 0; cuts < 1U << (n - 1); ++cuts) {
    if (__builtin_popcount(cuts) != count - 1) continue;
    std::vector<double> centres;
    for (int begin = 0; begin < n;) {
      int end = begin + 1;
      while (end < n && (cuts >> (end - 1) & 1U) == 0) ++end;
      double sum = 0;
      for (int i = begin; i < end; ++i) sum += numbers[static_cast<std::size_t>(i)];
      centres.push_back(sum / (end - begin));
      begin = end;
    }
    least = std::min(least, CostOf(numbers, centres));
  }
  return least;
}

TEST(LineClusters, HaveTheLeastSumOfSquares) {
  for (std::uint64_t trial = 0; trial < 60; ++trial) {
    Rng rng(trial, "line-clusters");
    std::vector<double> numbers(9);
    for (double& number : numbers) number = 1000 + rng.Uniform();
    for (int count = 1; count <= 5; ++count) {
      const std::vector<double> centres = LineClusters(numbers, count);
      EXPECT_TRUE(std::is_sorted(centres.begin(), centres.end()));
      EXPECT_NEAR(CostOf(numbers, centres), LeastCost(numbers, count), 1e-9) << trial << count;
    }
  }
}

TEST(LineClusters, AreNoMoreThanThereAreNumbers) {
  EXPECT_EQ(LineClusters(std::vector<double>{2, 1, 2, 1}, 3), (std::vector<double>{1, 2}));
  EXPECT_EQ(LineClusters(std::vector<double>{3, 3}, 2), std::vector<double>{3});
}

}  // namespace
}  // namespace allot
