#include "elastic/learning_rate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "core/types.h"

namespace allot {
namespace {

TEST(LearningRate, EachRuleByHand) {
  // M0 = 64, M = 256, noise scale 192: v / g = 3, gain = (3 + 1) / (3 / 4 + 1) = 16 / 7.
  EXPECT_EQ(LearningRateFactor(LearningRateRule::kConstant, 192, 64, 256), 1);
  EXPECT_EQ(LearningRateFactor(LearningRateRule::kLinear, 192, 64, 256), 4);
  EXPECT_EQ(LearningRateFactor(LearningRateRule::kSquareRoot, 192, 64, 256), 2);
  EXPECT_DOUBLE_EQ(LearningRateFactor(LearningRateRule::kAdaScale, 192, 64, 256), 16.0 / 7);
}

TEST(LearningRate, GainIsBetweenOneAndTheRatioOfBatches) {
  EXPECT_DOUBLE_EQ(GainOf(100, 64, 64), 1);
  EXPECT_DOUBLE_EQ(GainOf(0, 64, 256), 1) << "without noise more samples are worth nothing";
  EXPECT_NEAR(GainOf(1e12, 64, 256), 4, 1e-6) << "with nothing but noise, all of them";
  EXPECT_LT(GainOf(100, 64, 32), 1) << "and fewer are worth less";
}

TEST(LearningRate, NoiseThatIsNotKnownChangesNothing) {
  EXPECT_EQ(GainOf(kUnknown, 64, 256), 1);
  EXPECT_EQ(LearningRateFactor(LearningRateRule::kAdaScale, kUnknown, 64, 256), 1);
}

TEST(LearningRate, RulesHaveNames) {
  EXPECT_EQ(ParseLearningRateRule("adascale"), LearningRateRule::kAdaScale);
  EXPECT_EQ(ParseLearningRateRule("square-root"), LearningRateRule::kSquareRoot);
  EXPECT_EQ(ParseLearningRateRule("linear"), LearningRateRule::kLinear);
  EXPECT_EQ(ParseLearningRateRule("constant"), LearningRateRule::kConstant);
  EXPECT_THROW(ParseLearningRateRule("sqrt"), Error);
}

}  // namespace
}  // namespace allot
