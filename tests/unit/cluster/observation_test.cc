#include "cluster/observation.h"

#include <gtest/gtest.h>

#include <cmath>

namespace allot {
namespace {

TEST(InFull, NamesWhatGoesOnAndWhatIsListed) {
  Observation o;
  o.job = {3, 4, 5, 6};
  o.running = {1, 0, 2, -1};
  o.share_begin = {0, 1, 2, 3, 3};
  o.shares = {{0, {1}, 1}, {0, {1}, 2}, {0, {1}, 4}};
  const std::vector<NodeShare> fresh{{1, {1}, 1}};
  Allocation changes;
  changes.BecomeChanges();
  changes.Stop(4);
  changes.Add(5, 2, fresh, true);
  changes.Add(6, 0, fresh);
  Allocation expected;
  expected.Add(3, 1, o.shares_of(0));
  expected.Add(5, 2, fresh, true);
  expected.Add(6, 0, fresh);
  EXPECT_EQ(InFull(o, changes), expected);
  EXPECT_EQ(InFull(o, expected), expected);
}

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
