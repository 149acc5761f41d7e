#include "sim/scenario.h"

#include <gtest/gtest.h>

#include "tests/unit/core/expect_error.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

using testing_support::ScenarioOf;

TEST(ScenarioTest, AJobLargerThanTheClusterIsAnError) {
  ExpectError(ExitCode::kBadData, {"job 'job1'", "9 GPUs", "8"}, [] {
    ScenarioOf({{0, 1, 10}, {0, 9, 10}}, "2x4");
  });
}

TEST(ScenarioTest, AnEmptyWorkloadIsAnError) {
  ExpectError(ExitCode::kBadData, {"has no job"}, [] { ScenarioOf({}, "2x4"); });
}

TEST(ScenarioTest, OptionsOutOfRangeAreErrors) {
  SimOptions no_interval;
  no_interval.interval = 0;
  ExpectError(ExitCode::kUsage, {"interval must be > 0", "got 0"}, [&] {
    ScenarioOf({{0, 1, 10}}, "1x1", no_interval);
  });
  SimOptions refund;
  refund.restart_cost = -1;
  ExpectError(ExitCode::kUsage, {"restart cost must be >= 0", "got -1"}, [&] {
    ScenarioOf({{0, 1, 10}}, "1x1", refund);
  });
}

TEST(ScenarioTest, ARequestIsMetOnTheFastestTypeThatHoldsIt) {
  const Scenario scenario = ScenarioOf({{0, 4, 10}}, "1x2:v100,1x4:k80");
  const auto& facts = scenario.facts(0);
  EXPECT_EQ((*facts.table)[facts.requested].gpu_type, 1);
  EXPECT_EQ(facts.work, 10);
}

}  // namespace
}  // namespace allot
