#include "length_model/gittins_table.h"

#include <gtest/gtest.h>

#include <cmath>

namespace allot {
namespace {

double ParetoTail(double x) { return 1 / (1 + x / 60); }

TEST(GittinsTableTest, UnderAParetoTailItIsLeastAttainedService) {
  const GittinsTable table(1, 1, ParetoTail);
  double last = 0;
  for (double attained = 0; attained < 1e7; attained = attained * 2 + 1) {
    const double rank = table.Rank(attained);
    EXPECT_GT(rank, last) << attained;
    last = rank;
  }
}

TEST(GittinsTableTest, TwoSizes) {
  GittinsTable table(1, 1e-9, ParetoTail);
  for (int i = 0; i < 10; ++i) {
    table.Add(10);
    table.Add(1000);
  }
  // From the start: stop at 10; half end there, all take 10. Later: all end at 1000.
  EXPECT_NEAR(table.Rank(0), 20, 4);
  EXPECT_NEAR(table.Rank(20), 980, 180);
  EXPECT_NEAR(table.Rank(700), 300, 180);
}

TEST(GittinsTableTest, NobodyStopsAtASizeThatIsWorthWaitingFor) {
  // Nine in ten end at 1000, one at 990: the rank is that of going on to the end.
  GittinsTable table(1, 1e-9, ParetoTail);
  table.Add(500);
  for (int i = 0; i < 9; ++i) table.Add(1000);
  EXPECT_NEAR(table.Rank(0), 950, 100);
}

TEST(GittinsTableTest, TheOrderOfAddingDoesNotMatter) {
  GittinsTable up(1, 1, ParetoTail);
  GittinsTable down(1, 1, ParetoTail);
  for (int i = 0; i < 100; ++i) {
    up.Add(i * 7.3);
    down.Add((99 - i) * 7.3);
  }
  for (double attained : {0.0, 3.0, 50.0, 500.0, 5000.0}) {
    EXPECT_EQ(up.Rank(attained), down.Rank(attained)) << attained;
  }
}

TEST(GittinsTableTest, TheRankStaysUntilItsNextChange) {
  GittinsTable table(1, 1, ParetoTail);
  table.Add(300);
  for (double attained = 0; attained < 1e6; attained = attained * 1.37 + 0.4) {
    const double next = table.NextChange(attained);
    ASSERT_GT(next, attained);
    EXPECT_EQ(table.Rank(std::nextafter(next, 0.0)), table.Rank(attained)) << attained;
  }
}

TEST(GittinsTableTest, BeyondAllThatWasSeenItIsAsMuchAgain) {
  const GittinsTable table(1, 1, [](double x) { return x < 100 ? 1.0 : 0.0; });
  EXPECT_NEAR(table.Rank(5000), 5000, 1000);
}

}  // namespace
}  // namespace allot
