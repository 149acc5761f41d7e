#include "sim/relaxation.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

using Ends = std::vector<Seconds>;

TEST(FluidEnds, ShortestFirstOnOneServer) {
  const std::vector<RelaxedJob> jobs = {{0, 0, 40}, {0, 0, 10}, {0, 0, 20}};
  EXPECT_EQ(FluidEnds(jobs, 2), (Ends{35, 5, 15}));
}

TEST(FluidEnds, AnArrivalWithLessLeftGoesFirst) {
  // 10 s of the first job are done when the second comes: 30 are left, 20 are fewer.
  const std::vector<RelaxedJob> jobs = {{0, 0, 40}, {10, 10, 20}};
  EXPECT_EQ(FluidEnds(jobs, 1), (Ends{60, 30}));
}

TEST(FluidEnds, TheServerIdlesUntilTheNextRelease) {
  const std::vector<RelaxedJob> jobs = {{0, 0, 5}, {100, 100, 5}};
  EXPECT_EQ(FluidEnds(jobs, 1), (Ends{5, 105}));
}

TEST(EndSumBound, JobsThatFitTogetherAreBoundByTheirOwnSpeed) {
  const std::vector<RelaxedJob> jobs = {{0, 10, 10}, {0, 30, 30}};
  EXPECT_DOUBLE_EQ(EndSumBound(jobs, 100), 40);
}

TEST(EndSumBound, JobsThatDoNotFitTogetherAreBoundByCapacity) {
  const std::vector<RelaxedJob> jobs = {{0, 10, 10}, {0, 10, 10}, {0, 10, 10}};
  EXPECT_DOUBLE_EQ(EndSumBound(jobs, 1), 60);
}

TEST(EndSumBound, ALoneJobBesideACrowdCountsByItself) {
  // The last has no use for the server: it is bound by its speed, the others by the capacity.
  const std::vector<RelaxedJob> jobs = {{0, 10, 10}, {0, 10, 10}, {0, 1000, 0}};
  EXPECT_DOUBLE_EQ(EndSumBound(jobs, 1), 10 + 20 + 1000);
}

TEST(EndSumBound, NoJobIsNoSum) { EXPECT_EQ(EndSumBound({}, 1), 0); }

}  // namespace
}  // namespace allot
