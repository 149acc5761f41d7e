#include "stages/fill/servable_rows.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::World;

// 500 jobs of one table that ask for 2 GPUs each, those submitted last with the largest scores.
class ServableRowsTest : public testing::Test {
 protected:
  ServableRowsTest() {
    for (int job = 0; job < 500; ++job) {
      const std::int32_t row = world_.Add({{0, 1}}, 2);
      world_.o.table[static_cast<std::size_t>(row)] = world_.o.table[0];
      rows_.push_back(row);
      scores_.push_back({.u = static_cast<float>(job)});
    }
  }

  bool Find() { return servable_.Find(world_.o, rows_, scores_, {}, &hulls_); }

  World world_{"2x4"};
  SizedHulls hulls_{{}};
  std::vector<std::int32_t> rows_;
  std::vector<Score> scores_;
  ServableRows servable_;
};

TEST_F(ServableRowsTest, TakesAsManyAsTheClusterHolds) {
  ASSERT_TRUE(Find());
  EXPECT_EQ(std::vector(servable_.rows().begin(), servable_.rows().end()),
            (std::vector{496, 497, 498, 499}));
  EXPECT_EQ(servable_.scores().front().u, 496);
}

TEST_F(ServableRowsTest, TakesAllThatRun) {
  world_.o.running[7] = 0;
  ASSERT_TRUE(Find());
  EXPECT_EQ(servable_.rows().size(), 5U);
  EXPECT_EQ(servable_.rows().front(), 7);
}

TEST_F(ServableRowsTest, EqualKeysAreTakenBySubmission) {
  for (Score& score : scores_) score.u = 1;
  ASSERT_TRUE(Find());
  EXPECT_EQ(std::vector(servable_.rows().begin(), servable_.rows().end()),
            (std::vector{0, 1, 2, 3}));
}

TEST_F(ServableRowsTest, SaysWhetherOneThatIsLeftOutFits) {
  ASSERT_TRUE(Find());
  TypeCapacity free;
  free.Reset(*world_.o.cluster);
  EXPECT_TRUE(servable_.AnyOtherFits(free));
  for (int i = 0; i < 4; ++i) free.Take((*world_.o.table[0])[0]);
  EXPECT_FALSE(servable_.AnyOtherFits(free));
}

TEST_F(ServableRowsTest, LooksAtAllRowsThatAreNotInTheOrderOfSubmission) {
  std::swap(rows_[3], rows_[4]);
  EXPECT_FALSE(Find());
}

TEST_F(ServableRowsTest, LooksAtAllRowsOfManyKinds) {
  World world("2x4");
  for (int job = 0; job < 500; ++job) world.Add({{0, 1}}, 2);  // a table each
  EXPECT_FALSE(servable_.Find(world.o, rows_, scores_, {}, &hulls_));
}

}  // namespace
}  // namespace allot
