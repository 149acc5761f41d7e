#include "metrics/quantile.h"

#include <gtest/gtest.h>

#include <vector>

namespace allot {
namespace {

TEST(Quantile, InterpolatesBetweenOrderStatisticsAsNumpyDoes) {
  const std::vector<double> values = {1, 2, 4, 8, 16};
  // numpy.quantile([1, 2, 4, 8, 16], [0, .25, .5, .9, 1]) = 1, 2, 4, 12.8, 16
  EXPECT_DOUBLE_EQ(Quantile<double>(values, 0), 1);
  EXPECT_DOUBLE_EQ(Quantile<double>(values, 0.25), 2);
  EXPECT_DOUBLE_EQ(Quantile<double>(values, 0.5), 4);
  EXPECT_DOUBLE_EQ(Quantile<double>(values, 0.9), 12.8);
  EXPECT_DOUBLE_EQ(Quantile<double>(values, 1), 16);
}

TEST(Quantile, OfOneValueIsThatValue) {
  const std::vector<float> one = {3.5F};
  EXPECT_DOUBLE_EQ(Quantile<float>(one, 0.99), 3.5);
}

TEST(Quantile, OfNothingIsUnknown) {
  EXPECT_TRUE(std::isnan(Quantile<double>(std::span<const double>(), 0.5)));
}

}  // namespace
}  // namespace allot
