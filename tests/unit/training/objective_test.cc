#include "agents/training/objective.h"

#include <gtest/gtest.h>

#include "tests/unit/core/expect_error.h"
#include "tests/unit/training/small_world.h"

namespace allot {
namespace {

TEST(TrimmedMean, LeavesOutTheLargest) {
  EXPECT_DOUBLE_EQ(TrimmedMean({1, 100, 3, 2}, 0.75), 2);
  EXPECT_DOUBLE_EQ(TrimmedMean({5, 1, 3}, 1), 3);
  EXPECT_DOUBLE_EQ(TrimmedMean({5, 1, 3}, 0.01), 1) << "at least one is kept";
}

TEST(Objective, UnknownNamesAreRefused) {
  ExpectError(ExitCode::kUsage, {"unknown objective 'jtc'", "jct"}, [] { ObjectiveNamed("jtc"); });
}

class EveryObjective : public testing::TestWithParam<std::string> {};

TEST_P(EveryObjective, IsPositiveAndPrefersAnIdleClusterToACrowdedOne) {
  const Objective objective = ObjectiveNamed(GetParam());
  const auto value = [&](std::string_view cluster) {
    return PlayFor(objective, *SmallScenario(3, 24, cluster), *MakePolicy("fifo"), 100000);
  };
  EXPECT_GT(value("8x8"), 0);
  EXPECT_LT(value("8x8"), value("1x4"));
}

TEST_P(EveryObjective, CutEpisodesHaveAValue) {
  const double value =
      PlayFor(ObjectiveNamed(GetParam()), *SmallScenario(3), *MakePolicy("fifo"), 3);
  EXPECT_TRUE(std::isfinite(value)) << value;
  EXPECT_GT(value, 0);
}

// Cut or not, an episode without contention is worth the same: nothing is left that waits.
TEST(PlayForTest, WhatIsLeftCountsAsIfItRanAlone) {
  const auto scenario = SmallScenario(3, 1, "8x8");
  const Objective jct = ObjectiveNamed("jct");
  const std::string fastest = "index:alpha=0,beta=0,kappa=0";
  const double whole = PlayFor(jct, *scenario, *MakePolicy(fastest), 100000);
  EXPECT_NEAR(PlayFor(jct, *scenario, *MakePolicy(fastest), 2), whole, 1e-6 * whole);
}

INSTANTIATE_TEST_SUITE_P(All, EveryObjective,
                         testing::ValuesIn(Registry<ObjectiveInfo>::Global().ids()));

}  // namespace
}  // namespace allot
