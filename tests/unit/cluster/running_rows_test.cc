#include "cluster/running_rows.h"

#include <gtest/gtest.h>

#include "core/rng.h"

namespace allot {
namespace {

TEST(RunningRows, AreThoseThatAreNotNegativeWhereverTheyLie) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed, "running-rows");
    std::vector<std::int32_t> running(rng.Below(100), -1);
    for (std::int32_t& configuration : running) {
      if (rng.Below(10) == 0) configuration = static_cast<std::int32_t>(rng.Below(3));
    }
    const auto end = static_cast<std::int32_t>(rng.Below(running.size() + 1));
    const auto begin = static_cast<std::int32_t>(rng.Below(static_cast<std::uint64_t>(end) + 1));
    std::vector<std::int32_t> expected;
    for (std::int32_t row = begin; row < end; ++row) {
      if (running[static_cast<std::size_t>(row)] >= 0) expected.push_back(row);
    }
    std::vector<std::int32_t> visited;
    ForEachRunningRow(running, begin, end, [&](std::int32_t row) {
      visited.push_back(row);
      return true;
    });
    ASSERT_EQ(visited, expected) << "seed " << seed;
  }
}

TEST(RunningRows, EndWhereTheVisitorHasEnough) {
  int visits = 0;
  ForEachRunningRow({0, 0, 0}, 0, 3, [&](std::int32_t) { return ++visits < 2; });
  EXPECT_EQ(visits, 2);
}

}  // namespace
}  // namespace allot
