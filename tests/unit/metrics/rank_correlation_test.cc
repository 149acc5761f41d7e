#include "metrics/rank_correlation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace allot {
namespace {

using Values = std::vector<double>;

TEST(RankCorrelationTest, IsOneForEqualOrders) {
  EXPECT_DOUBLE_EQ(RankCorrelation(Values{1, 5, 2}, Values{10, 1000, 20}), 1);
  EXPECT_DOUBLE_EQ(RankCorrelation(Values{1, 5, 2}, Values{3, 1, 2}), -1);
}

// Ranks 0 1.5 1.5 3 and 0 1 2 3: 4.5 / sqrt(4.5 x 5).
TEST(RankCorrelationTest, EqualValuesShareTheirRank) {
  EXPECT_DOUBLE_EQ(RankCorrelation(Values{0, 7, 7, 9}, Values{1, 2, 3, 4}), std::sqrt(0.9));
}

TEST(RankCorrelationTest, IsUnknownWithoutAnOrder) {
  EXPECT_TRUE(std::isnan(RankCorrelation(Values{}, Values{})));
  EXPECT_TRUE(std::isnan(RankCorrelation(Values{2, 2}, Values{1, 3})));
}

}  // namespace
}  // namespace allot
