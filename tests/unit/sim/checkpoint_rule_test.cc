#include "sim/checkpoint_rule.h"

#include <gtest/gtest.h>

#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

TEST(CheckpointRules, YoungDalyTakesTheIntervalThatCostsLeast) {
  const auto rule = MakeCheckpointRule("young-daly:cost=120");
  const double rate = 1 / (234 * 86400.0);
  for (const int nodes : {1, 8, 64}) {
    const auto overhead = [&](Seconds every) { return 120 / every + nodes * rate * every / 2; };
    const Checkpoints chosen = rule->Of(nodes, rate);
    EXPECT_LT(overhead(chosen.every), overhead(1.05 * chosen.every)) << nodes;
    EXPECT_LT(overhead(chosen.every), overhead(0.95 * chosen.every)) << nodes;
  }
}

TEST(CheckpointRules, WithoutFailuresYoungDalyWritesNone) {
  EXPECT_EQ(MakeCheckpointRule("young-daly")->Of(8, 0).every, kNever);
  EXPECT_EQ(MakeCheckpointRule("young-daly")->Of(8, 0).progress(), 1);
}

TEST(CheckpointRules, WritingTakesAShareOfTheTime) {
  EXPECT_DOUBLE_EQ(MakeCheckpointRule("fixed:every=9min,cost=1min")->Of(1, 0).progress(), 0.9);
  EXPECT_EQ(MakeCheckpointRule("none")->Of(1, 1).progress(), 1);
  EXPECT_EQ(MakeCheckpointRule("continuous")->Of(1, 1).progress(), 1);
}

TEST(CheckpointRules, BadInputNamesRuleAndValues) {
  ExpectError(ExitCode::kUsage, {"'every' must not be shorter than 'cost'", "60 s", "120 s"},
              [] { MakeCheckpointRule("fixed:every=1min,cost=2min"); });
  ExpectError(ExitCode::kUsage, {"unknown checkpoint rule 'fixd'", "fixed"},
              [] { MakeCheckpointRule("fixd"); });
}

}  // namespace
}  // namespace allot
