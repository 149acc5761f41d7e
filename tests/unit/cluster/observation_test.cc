#include "cluster/observation.h"

#include <gtest/gtest.h>

#include <cmath>

namespace allot {
namespace {

TEST(EstimatedRemaining, IsTheEstimateLessWhatIsDone) {
  EXPECT_EQ(EstimatedRemaining(100, 30), 70);
}

TEST(EstimatedRemaining, OutlivedEstimateCountsATenthOfTheDone) {
  EXPECT_DOUBLE_EQ(EstimatedRemaining(100, 100), 10);
  EXPECT_DOUBLE_EQ(EstimatedRemaining(100, 250), 25);
}

TEST(EstimatedRemaining, UnknownStaysUnknown) {
  EXPECT_TRUE(std::isnan(EstimatedRemaining(kUnknown, 30)));
}

}  // namespace
}  // namespace allot
