#include "elastic/training_meter.h"

#include <gtest/gtest.h>

#include <cmath>

namespace allot {
namespace {

TEST(TrainingMeter, CountsWorkAcrossEpochsAndRateWithinOne) {
  TrainingMeter meter;
  meter.BeginEpoch(100);
  for (int i = 1; i <= 10; ++i) meter.AddStep(100 + 0.5 * i, 64);
  EXPECT_EQ(meter.work(), 640);
  EXPECT_DOUBLE_EQ(meter.rate(), 128);
  meter.BeginEpoch(200);  // the pause between is nobody's
  EXPECT_TRUE(std::isnan(meter.rate()));
  meter.AddStep(200.25, 64);
  EXPECT_DOUBLE_EQ(meter.rate(), 256);
  EXPECT_EQ(meter.work(), 704);
}

TEST(TrainingMeter, SecondsAreMediansAndPassesOfAccumulationAreTakenOff) {
  TrainingMeter meter;
  meter.BeginEpoch(0);
  const WorkerBatch batch{4, 16, 2};
  for (std::size_t i = 0; i < TrainingMeter::kWindow; ++i) {
    EXPECT_FALSE(meter.measured());
    const double slow = i % 10 == 3 ? 5 : 0;  // a checkpoint, now and then
    meter.AddTimes(batch, 0.5, 1.75 + slow);
  }
  ASSERT_TRUE(meter.measured());
  EXPECT_EQ(meter.measured_batch(), batch);
  EXPECT_DOUBLE_EQ(meter.seconds().gradient, 0.5);
  EXPECT_DOUBLE_EQ(meter.seconds().iteration, 0.75) << "two passes are without synchronisation";
}

TEST(TrainingMeter, AnotherBatchIsMeasuredAfresh) {
  TrainingMeter meter;
  meter.BeginEpoch(0);
  for (std::size_t i = 0; i < TrainingMeter::kWindow; ++i) meter.AddTimes({1, 16, 0}, 1, 2);
  EXPECT_TRUE(meter.measured());
  meter.AddTimes({1, 32, 0}, 3, 4);
  EXPECT_FALSE(meter.measured());
}

TEST(TrainingMeter, TheWindowForgets) {
  TrainingMeter meter;
  meter.BeginEpoch(0);
  for (std::size_t i = 0; i < TrainingMeter::kWindow; ++i) meter.AddTimes({1, 16, 0}, 1, 2);
  for (std::size_t i = 0; i < TrainingMeter::kWindow; ++i) meter.AddTimes({1, 16, 0}, 3, 7);
  EXPECT_DOUBLE_EQ(meter.seconds().gradient, 3);
  EXPECT_DOUBLE_EQ(meter.seconds().iteration, 7);
}

TEST(TrainingMeter, AnIterationIsNoShorterThanItsPass) {
  TrainingMeter meter;
  meter.BeginEpoch(0);
  for (std::size_t i = 0; i < TrainingMeter::kWindow; ++i) meter.AddTimes({1, 16, 1}, 1, 1.5);
  EXPECT_DOUBLE_EQ(meter.seconds().iteration, 1);
}

}  // namespace
}  // namespace allot
