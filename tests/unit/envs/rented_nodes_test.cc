// Settings whose nodes come and go with their use.

#include "envs/rented_nodes.h"

#include <gtest/gtest.h>

#include "envs/setting.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

TEST(RentedNodesTest, ASettingScalesItsClusterAndPricesNodes) {
  const Setting setting =
      MakeSetting("pollux:load=0.05,autoscale=utility/min=2/max=4/utility=0.4|0.8,node-price=3");
  const SimOptions options = setting.episodes(1)->options();
  EXPECT_EQ(options.autoscale, "utility:min=2,max=4,utility=0.4|0.8");
  EXPECT_EQ(options.node_price, 3);
  EXPECT_EQ(MakeSetting("pollux:load=0.05").episodes(1)->options().autoscale, "");
}

TEST(RentedNodesTest, MistakesAreNamed) {
  ExpectError(ExitCode::kUsage, {"'utility'", "minn", "did you mean 'min'"},
              [] { MakeSetting("pollux:autoscale=utility/minn=2"); });
}

}  // namespace
}  // namespace allot
