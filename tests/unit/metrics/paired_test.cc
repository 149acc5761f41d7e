#include "metrics/paired.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace allot {
namespace {

// Table values to their last printed digit (NIST/SEMATECH e-Handbook, 1.3.6.7.2, two-sided).
TEST(StudentQuantile, MatchesPublishedTables) {
  EXPECT_NEAR(StudentQuantile(0.95, 1), 12.706, 5e-4);
  EXPECT_NEAR(StudentQuantile(0.95, 2), 4.303, 5e-4);
  EXPECT_NEAR(StudentQuantile(0.95, 3), 3.182, 5e-4);
  EXPECT_NEAR(StudentQuantile(0.95, 4), 2.776, 5e-4);
  EXPECT_NEAR(StudentQuantile(0.95, 7), 2.365, 5e-4);
  EXPECT_NEAR(StudentQuantile(0.95, 10), 2.228, 5e-4);
  EXPECT_NEAR(StudentQuantile(0.95, 30), 2.042, 5e-4);
  EXPECT_NEAR(StudentQuantile(0.95, 100), 1.984, 5e-4);
  EXPECT_NEAR(StudentQuantile(0.99, 5), 4.032, 5e-4);
  EXPECT_NEAR(StudentQuantile(0.90, 8), 1.860, 5e-4);
}

TEST(StudentQuantile, OneDegreeIsCauchy) { EXPECT_NEAR(StudentQuantile(0.5, 1), 1.0, 1e-12); }

TEST(StudentQuantile, ManyDegreesApproachTheNormal) {
  EXPECT_NEAR(StudentQuantile(0.95, 100000), 1.959964, 5e-5);
}

TEST(ComparePaired, GeometricMeanWithStudentIntervalOfTheLogarithms) {
  // Ratios 1/4, 1/2, 1: mean 1/2, standard deviation of the logarithms ln 2, t(2) = 4.302653.
  const PairedRatio ratio =
      ComparePaired(std::vector<double>{5, 10, 10}, std::vector<double>{20, 20, 10});
  const double factor = std::exp2(4.302652729911275 / std::sqrt(3.0));
  EXPECT_EQ(ratio.n, 3);
  EXPECT_NEAR(ratio.mean, 0.5, 1e-12);
  EXPECT_NEAR(ratio.low, 0.5 / factor, 1e-9);
  EXPECT_NEAR(ratio.high, 0.5 * factor, 1e-9);
}

TEST(ComparePaired, SaysTheSameWhicheverSideIsTheReference) {
  const std::vector<double> a = {5, 12, 7};
  const std::vector<double> b = {10, 3, 10};
  const PairedRatio ratio = ComparePaired(a, b);
  const PairedRatio inverse = ComparePaired(b, a);
  EXPECT_NEAR(ratio.mean * inverse.mean, 1, 1e-12);
  EXPECT_NEAR(ratio.low * inverse.high, 1, 1e-12);
  EXPECT_GT(ratio.low, 0) << "a ratio of times is positive";
}

TEST(MeanWithInterval, DrawsFromOneWindowCountOnceWhereThereAreSeveral) {
  // Means by window 1, 2 and 3, two draws of each: as three values.
  const std::vector<double> values = {0.5, 2, 2.5, 1.5, 2, 3.5};
  const std::vector<std::int32_t> windows = {0, 1, 2, 0, 1, 2};
  const PairedRatio mean = MeanWithInterval(values, windows);
  const double half = 4.302652729911275 / std::sqrt(3.0);
  EXPECT_EQ(mean.n, 6);
  EXPECT_NEAR(mean.mean, 2, 1e-12);
  EXPECT_NEAR(mean.low, 2 - half, 1e-9);
  EXPECT_NEAR(mean.high, 2 + half, 1e-9);
}

TEST(MeanWithInterval, WindowsOfTheirOwnAndOneWindowAreIndependentDraws) {
  const std::vector<double> values = {0.5, 0.6, 0.7};
  const PairedRatio plain = MeanWithInterval(values);
  const std::vector<std::int32_t> own(3, kWindowOfItsOwn);
  EXPECT_EQ(MeanWithInterval(values, own).high, plain.high);
  EXPECT_EQ(MeanWithInterval(values, std::vector<std::int32_t>{4, 4, 4}).high, plain.high);
}

TEST(IntervalInWords, SaysOverWhat) {
  EXPECT_EQ(IntervalInWords({}), "Student's t");
  EXPECT_EQ(IntervalInWords(std::vector<std::int32_t>{0, 1, 0, 1}),
            "Student's t over 2 windows of the trace");
  EXPECT_EQ(IntervalInWords(std::vector<std::int32_t>{0, 0}),
            "Student's t over draws from one window of the trace");
}

TEST(MeanWithInterval, IsTheArithmeticMean) {
  // 0.5, 0.6, 0.7: standard deviation 0.1.
  const PairedRatio mean = MeanWithInterval(std::vector<double>{0.5, 0.6, 0.7});
  const double half = 4.302652729911275 * 0.1 / std::sqrt(3.0);
  EXPECT_NEAR(mean.mean, 0.6, 1e-12);
  EXPECT_NEAR(mean.low, 0.6 - half, 1e-9);
  EXPECT_NEAR(mean.high, 0.6 + half, 1e-9);
}

TEST(PositiveMeanWithInterval, IsThatOfTheMeansLogarithm) {
  // Mean 0.6, standard error 0.1 / sqrt(3): their quotient is the error of the logarithm.
  const PairedRatio mean = PositiveMeanWithInterval(std::vector<double>{0.5, 0.6, 0.7});
  const double half = 4.302652729911275 * 0.1 / std::sqrt(3.0) / 0.6;
  EXPECT_NEAR(mean.mean, 0.6, 1e-12);
  EXPECT_NEAR(mean.low, 0.6 * std::exp(-half), 1e-9);
  EXPECT_NEAR(mean.high, 0.6 * std::exp(half), 1e-9);
}

TEST(PositiveMeanWithInterval, IsNeverBelowZero) {
  EXPECT_LT(MeanWithInterval(std::vector<double>{10, 20, 900}).low, 0);
  EXPECT_GT(PositiveMeanWithInterval(std::vector<double>{10, 20, 900}).low, 0);
  EXPECT_EQ(PositiveMeanWithInterval(std::vector<double>{0, 0}).high, 0);
}

TEST(ComparePaired, OneWorkloadHasNoInterval) {
  const PairedRatio ratio = ComparePaired(std::vector<double>{1}, std::vector<double>{2});
  EXPECT_DOUBLE_EQ(ratio.mean, 0.5);
  EXPECT_FALSE(ratio.has_interval());
  EXPECT_FALSE(ratio.below(1));
}

TEST(ComparePaired, EqualRatiosHaveAnIntervalOfWidthZero) {
  const PairedRatio ratio = ComparePaired(std::vector<double>{1, 2}, std::vector<double>{2, 4});
  EXPECT_DOUBLE_EQ(ratio.low, 0.5);
  EXPECT_DOUBLE_EQ(ratio.high, 0.5);
  EXPECT_TRUE(ratio.below(1));
}

// Readers of a table with three digits cannot see such a difference.
TEST(PairedRatio, AnIntervalThatTouchesOneAfterRoundingIsOpen) {
  const auto side = [](double low, double high) {
    return PairedRatio{.mean = 1, .low = low, .high = high, .n = 5}.side();
  };
  EXPECT_EQ(side(0.892, 0.9996), PairedRatio::Side::kOpen);
  EXPECT_EQ(side(0.892, 0.9994), PairedRatio::Side::kBelow);
  EXPECT_EQ(side(1.0004, 1.2), PairedRatio::Side::kOpen);
  EXPECT_EQ(side(1.0006, 1.2), PairedRatio::Side::kAbove);
  EXPECT_EQ((PairedRatio{.mean = 0.5, .n = 1}.side()), PairedRatio::Side::kOpen);
}

TEST(ComparePaired, UnknownSideMakesTheResultUnknown) {
  const PairedRatio ratio =
      ComparePaired(std::vector<double>{1, kUnknown}, std::vector<double>{2, 4});
  EXPECT_TRUE(std::isnan(ratio.mean));
  EXPECT_FALSE(ratio.below(1));
}

TEST(ComparePaired, NothingIsUnknown) { EXPECT_TRUE(std::isnan(ComparePaired({}, {}).mean)); }

}  // namespace
}  // namespace allot
