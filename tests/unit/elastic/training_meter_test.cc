#include "elastic/training_meter.h"

#include <gtest/gtest.h>

#include <cmath>

namespace allot {
namespace {

TEST(TrainingMeter, CountsWorkAcrossEpochsAndRateWithinOne) {
  TrainingMeter meter;
  meter.Joined(100);
  for (int i = 1; i <= 10; ++i) meter.Step(100 + 0.5 * i, 64, 1, 0, 0);
  EXPECT_EQ(meter.work(), 640);
  EXPECT_DOUBLE_EQ(meter.rate(), 128);
  meter.Joined(200);  // the pause between is nobody's
  EXPECT_TRUE(std::isnan(meter.rate()));
  meter.Step(200.25, 64, 2, 0, 0);
  EXPECT_DOUBLE_EQ(meter.rate(), 256);
  EXPECT_EQ(meter.work(), 704);
}

TEST(TrainingMeter, FindsTheNoiseScaleThatNormsWereMadeFrom) {
  // E|g_B|^2 = |G|^2 + tr(S) / B with |G|^2 = 4 and tr(S) = 200: the noise scale is 50.
  TrainingMeter meter;
  meter.Joined(0);
  for (int i = 1; i <= 20; ++i) meter.Step(i, 64, 4, 4 + 200.0 / 16, 4 + 200.0 / 64);
  EXPECT_NEAR(meter.noise_scale(), 50, 1e-9);
}

TEST(TrainingMeter, OneMemberKnowsNoNoiseScale) {
  TrainingMeter meter;
  meter.Joined(0);
  meter.Step(1, 64, 1, 5, 5);
  EXPECT_TRUE(std::isnan(meter.noise_scale()));
}

}  // namespace
}  // namespace allot
