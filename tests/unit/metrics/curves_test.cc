#include "metrics/curves.h"

#include <gtest/gtest.h>

#include <cmath>

namespace allot {
namespace {

TEST(EvenQuantiles, GoFromLeastToGreatest) {
  EXPECT_EQ(EvenQuantiles({4, 0, 2, 1, 3}, 3), (std::vector<double>{0, 2, 4}));
  EXPECT_TRUE(EvenQuantiles({}, 3).empty());
}

TEST(BucketMeans, WeighByTime) {
  // 0 until 1, then 4 until 2, then 8 until 4.
  const std::vector<double> times = {0, 1, 2};
  const std::vector<double> values = {0, 4, 8};
  EXPECT_EQ(BucketMeans(times, values, 4, 0, 4, 2), (std::vector<double>{2, 8}));
}

TEST(BucketMeans, OneStateMayFillManyBuckets) {
  EXPECT_EQ(BucketMeans(std::vector<double>{0}, std::vector<double>{3}, 4, 0, 4, 4),
            (std::vector<double>{3, 3, 3, 3}));
}

TEST(BucketMeans, UnknownWhereTheRunHadNotBegunOrWasOver) {
  const std::vector<double> means =
      BucketMeans(std::vector<double>{1}, std::vector<double>{3}, 2, 0, 3, 3);
  EXPECT_TRUE(std::isnan(means[0]));
  EXPECT_EQ(means[1], 3);
  EXPECT_TRUE(std::isnan(means[2]));
}

TEST(ThinnedMeans, KeepAtMostCount) {
  EXPECT_EQ(ThinnedMeans(std::vector<double>{1, 3, 5, 7, 9}, 3), (std::vector<double>{2, 6, 9}));
  EXPECT_EQ(ThinnedMeans(std::vector<double>{1, 3}, 3), (std::vector<double>{1, 3}));
}

TEST(ThinnedMeans, LeaveUnknownValuesOut) {
  const std::vector<double> means =
      ThinnedMeans(std::vector<double>{kUnknown, 4, kUnknown, kUnknown}, 2);
  EXPECT_EQ(means[0], 4);
  EXPECT_TRUE(std::isnan(means[1]));
}

TEST(RoundedTo, KeepsSignificantDigits) {
  EXPECT_EQ(RoundedTo(123456, 3), 123000);
  EXPECT_EQ(RoundedTo(-0.00123456, 2), -0.0012);
  EXPECT_EQ(RoundedTo(0, 3), 0);
  EXPECT_TRUE(std::isnan(RoundedTo(kUnknown, 3)));
}

}  // namespace
}  // namespace allot
