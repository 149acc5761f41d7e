#include "metrics/bootstrap.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

TEST(Bootstrap, WeighsTasksEquallyWhateverTheirRuns) {
  const TaskValues tasks = {{0, 0, 0, 0}, {2}};
  EXPECT_DOUBLE_EQ(MeanOverTasks(tasks), 1);
  // The middle half is one quarter of each task.
  EXPECT_DOUBLE_EQ(InterquartileMean(tasks), 1);
}

TEST(Bootstrap, InterquartileMeanLeavesOutTheOuterQuarters) {
  EXPECT_DOUBLE_EQ(InterquartileMean({{-100, 1, 3, 1000}}), 2);
}

TEST(Bootstrap, InterquartileMeanSplitsRunsAtTheQuarters) {
  // Of six runs a quarter is one and a half.
  EXPECT_DOUBLE_EQ(InterquartileMean({{1, 2, 3, 4, 5, 6}}), 3.5);
  EXPECT_NEAR(InterquartileMean({{1, 2, 4}}), (0.25 * 1 + 1.0 * 2 + 0.25 * 4) / 1.5, 1e-12);
}

TEST(Bootstrap, ResamplesRunsWithinTheirTask) {
  // Without spread inside of the tasks there is no interval, however far apart they are.
  const Estimate estimate = StratifiedBootstrap({{1, 1, 1}, {5, 5}}, MeanOverTasks);
  EXPECT_DOUBLE_EQ(estimate.value, 3);
  EXPECT_DOUBLE_EQ(estimate.low, 3);
  EXPECT_DOUBLE_EQ(estimate.high, 3);
}

TEST(Bootstrap, IntervalHoldsTheValueAndIsRepeatable) {
  const TaskValues tasks = {{1, 2, 3, 4}, {10, 12, 14}};
  const Estimate estimate = StratifiedBootstrap(tasks, MeanOverTasks);
  EXPECT_DOUBLE_EQ(estimate.value, 7.25);
  EXPECT_LT(estimate.low, estimate.value);
  EXPECT_GT(estimate.high, estimate.value);
  EXPECT_EQ(StratifiedBootstrap(tasks, MeanOverTasks).low, estimate.low);
}

}  // namespace
}  // namespace allot
