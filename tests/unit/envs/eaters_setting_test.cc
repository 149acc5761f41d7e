// The rule of suspicion in the world that it was measured in, smaller than there: the whole figures
// are in docs/failures.md.

#include <gtest/gtest.h>

#include "envs/setting.h"
#include "sim/run.h"
#include "stages/staged_policy.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

StartFigures Play(const std::string& params) {
  const PolicyInfo info = StagedPolicyInfo("staged", "for tests", {.ordering = "submit"});
  const auto policy = info.make(Params("policy 'staged'", info.params, {}));
  return RunPolicy(*MakeSetting("eaters:span=2d," + params).episodes(2), *policy).starts.value();
}

TEST(EatersSettingTest, EatersAreFoundAndNoGoodJobIsGivenUp) {
  const StartFigures figures = Play("law=eaters/between=100d");
  EXPECT_GT(figures.bad_nodes, 0);
  EXPECT_GT(figures.found, 0);
  EXPECT_LE(figures.until_found, 9 * figures.found);
  EXPECT_EQ(figures.good_given_up, 0);
  EXPECT_GT(figures.given_up, 0) << "broken jobs";
}

TEST(EatersSettingTest, SoundNodesAreNotSuspect) {
  const StartFigures figures = Play("law=eaters/between=1000000d");
  EXPECT_EQ(figures.bad_nodes, 0);
  EXPECT_GT(figures.failed, 100);
  EXPECT_LE(figures.false_alarms, 1);
}

TEST(EatersSettingTest, BadParametersNameRuleAndValue) {
  ExpectError(ExitCode::kUsage, {"'suspect'", "2"}, [] { MakeSetting("eaters:suspect=2"); });
  ExpectError(ExitCode::kBadData, {"then", "stop"}, [] { MakeSetting("eaters:then=stop"); });
}

}  // namespace
}  // namespace allot
