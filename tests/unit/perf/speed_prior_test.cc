#include "perf/speed_prior.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace allot {
namespace {

constexpr SpeedStep kMore = SpeedStep::kMore;

class SpeedPriorTest : public ::testing::Test {
 protected:
  static std::vector<std::string> Levels(GpuCount requested, const std::string& model) {
    return SpeedPrior::LevelsOf(requested, "", "", model);
  }
  static void Expect(const SpeedError& got, double mean, double variance) {
    EXPECT_NEAR(got.mean, mean, 1e-12);
    EXPECT_NEAR(got.spread, std::sqrt(variance), 1e-12);
  }
  SpeedPrior prior_;
};

TEST_F(SpeedPriorTest, WithoutErrorsPredictionsHaveTheSpreadOfTheRoot) {
  Expect(prior_.Of(Levels(1, "m"), kMore, 1), 0, 0.16);
  EXPECT_DOUBLE_EQ(prior_.Of(Levels(1, "m"), kMore, 3).spread, 3 * SpeedPrior::kSpread);
}

TEST_F(SpeedPriorTest, ShrinksLevelByLevelAsComputedByHand) {
  prior_.Observe(Levels(1, "a"), kMore, 4, 1, -0.3);
  prior_.Observe(Levels(1, "b"), kMore, 4, 2, -0.2);  // -0.1 a doubling
  // All: two errors of mean -0.2, squares around it 0.02. Mean (0 - 0.4) / 4; variance
  // (2 x 0.16 + 0.02 + 1 x 0.2^2) / 4.
  Expect(prior_.Of(Levels(8, "c"), kMore, 1), -0.1, 0.095);
  // The same two of size 1: mean (2 x -0.1 - 0.4) / 4; variance (2 x 0.095 + 0.02 + 0.1^2) / 4.
  Expect(prior_.Of(Levels(1, "c"), kMore, 1), -0.15, 0.055);
  // And model a's own: mean (2 x -0.15 - 0.3) / 3; variance (2 x 0.055 + 2/3 x 0.15^2) / 3.
  Expect(prior_.Of(Levels(1, "a"), kMore, 1), -0.2, 0.125 / 3);
  Expect(prior_.Of(Levels(1, "c"), SpeedStep::kApart, 1), 0, 0.16);  // other steps: nothing
}

TEST_F(SpeedPriorTest, UsersAndGroupsAreLevelsOfTheirOwn) {
  prior_.Observe(SpeedPrior::LevelsOf(1, "u", "g", "a"), kMore, 4, 1, -0.3);
  const double of_size = prior_.Of(SpeedPrior::LevelsOf(1, "v", "h", "b"), kMore, 1).mean;
  const double of_user = prior_.Of(SpeedPrior::LevelsOf(1, "u", "h", "b"), kMore, 1).mean;
  const double of_group = prior_.Of(SpeedPrior::LevelsOf(1, "u", "g", "b"), kMore, 1).mean;
  EXPECT_LT(of_user, of_size);
  EXPECT_LT(of_group, of_user);
}

TEST_F(SpeedPriorTest, AModelsStepToACountIsOneErrorHoweverOftenItIsMade) {
  prior_.Observe(Levels(1, "a"), kMore, 4, 1, -0.3);
  const SpeedError once = prior_.Of(Levels(1, "b"), kMore, 1);
  prior_.Observe(Levels(1, "a"), kMore, 4, 1, -0.9);
  EXPECT_EQ(prior_.Of(Levels(1, "b"), kMore, 1).mean, once.mean);
  prior_.Observe(Levels(1, "a"), kMore, 8, 1, -0.9);
  EXPECT_LT(prior_.Of(Levels(1, "b"), kMore, 1).mean, once.mean);
}

TEST_F(SpeedPriorTest, WhatIsNoNumberIsNoError) {
  prior_.Observe(Levels(1, "a"), kMore, 4, 1, std::numeric_limits<double>::quiet_NaN());
  prior_.Observe(Levels(1, "a"), kMore, 4, 1, -std::numeric_limits<double>::infinity());
  Expect(prior_.Of(Levels(1, "a"), kMore, 1), 0, 0.16);
}

}  // namespace
}  // namespace allot
