#include "stages/rounds/equal_share.h"

#include <gtest/gtest.h>

#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::World;

TEST(EqualShareTest, IsReadOffTheHull) {
  World world("1x6");
  world.Add({{1, 1.8, 2.4}});
  EXPECT_DOUBLE_EQ(EqualShareRate(world.o, 0, 3), 1.8);
  EXPECT_DOUBLE_EQ(EqualShareRate(world.o, 0, 4), 1.4);  // 1.5 GPUs
  EXPECT_DOUBLE_EQ(EqualShareRate(world.o, 0, 1), 2.4);  // cannot use more than 3
}

TEST(EqualShareTest, LessThanTheSmallestSizeIsAShareOfItsTime) {
  World world("1x6");
  world.Add({{0, 0, 0, 8}}, 4);
  EXPECT_DOUBLE_EQ(EqualShareRate(world.o, 0, 3), 4.0);
}

TEST(EqualShareTest, CountsAPartOfEveryType) {
  World world("1x4:fast,1x2:slow");
  world.Add({{3}, {1}});
  EXPECT_DOUBLE_EQ(EqualShareRate(world.o, 0, 8), 3 * 0.5 + 1 * 0.25);
}

}  // namespace
}  // namespace allot
