#include "stages/fill/unit_placer.h"

#include <gtest/gtest.h>

#include "cluster/validate.h"
#include "stages/fill/increments.h"
#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::World;

const std::vector<UnitKind> kWorkerAndServer = {{"worker", {4, 2}, 4}, {"ps", {0, 2}, 2}};

// All counts up to 3 of each kind and one more to look at; rate = workers x servers.
ConfigurationTable Grid() {
  std::vector<Configuration> configurations;
  for (std::int16_t w = 0; w <= 4; ++w) {
    for (std::int16_t p = w == 0 ? 1 : 0; p <= 4; ++p) {
      configurations.push_back({.units = {w, p},
                                .gpu_type = 0,
                                .demand = {4 * w, 2 * (w + p)},
                                .cost = 4.0 * w + 2.0 * p,
                                .rate = static_cast<double>(w * p)});
    }
  }
  return ConfigurationTable("grid", kWorkerAndServer, configurations, {3, 3});
}

class UnitPlacerTest : public testing::Test {
 protected:
  UnitPlacerTest() : world_("2x8x8") {
    world_.Add(Grid(), {1, 1});
    world_.Add(Grid(), {1, 1});
    placer_.Reset(*world_.o.cluster, 2);
  }
  bool Place(std::int32_t position, int kind) {
    return placer_.PlaceOnLeastLoaded(position, kWorkerAndServer, kind, 0);
  }
  World world_;
  UnitPlacer placer_;
};

TEST_F(UnitPlacerTest, TakesTheLeastLoadedNodeAndTheLowestOnTies) {
  EXPECT_TRUE(Place(0, 0));
  EXPECT_EQ(placer_.used(0), (Resources{4, 2}));
  EXPECT_TRUE(Place(0, 1));  // node 1 has nothing in use
  EXPECT_EQ(placer_.used(1), (Resources{0, 2}));
  EXPECT_TRUE(Place(1, 1));  // node 1 has 2 in use, node 0 has 6
  EXPECT_EQ(placer_.used(1), (Resources{0, 4}));
}

TEST_F(UnitPlacerTest, TriesNoOtherNode) {
  // Four servers fill node 0's CPUs with a load of 8; node 1 has a load of 12 and room for a
  // server.
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(placer_.PlaceOn(0, 0, kWorkerAndServer, 1));
  EXPECT_TRUE(placer_.PlaceOn(1, 1, kWorkerAndServer, 0));
  EXPECT_TRUE(placer_.PlaceOn(1, 1, kWorkerAndServer, 0));
  EXPECT_FALSE(Place(1, 1));
  EXPECT_TRUE(placer_.PlaceOn(1, 1, kWorkerAndServer, 1));
}

TEST_F(UnitPlacerTest, GrantsNameValidPlaces) {
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Place(i % 2, kBundle));
  const std::vector<std::int32_t> order = {1, 0};
  std::vector<Grant> grants;
  placer_.Grants(world_.o, order, std::vector<GpuTypeIndex>{0, 0}, &grants);
  ASSERT_EQ(grants.size(), 2U);
  EXPECT_EQ(grants[0].row, 1);  // the first of the order: two bundles, both on node 0
  ASSERT_EQ(placer_.PlaceOf(0).size(), 1U);
  EXPECT_EQ(placer_.PlaceOf(0)[0].units, (UnitCounts{2, 2}));
  Allocation allocation;
  for (std::size_t i = 0; i < grants.size(); ++i) {
    allocation.Add(world_.o.job[static_cast<std::size_t>(grants[i].row)], grants[i].configuration,
                   placer_.PlaceOf(i));
  }
  EXPECT_EQ(ValidateAllocation(world_.o, allocation).message(), "");
}

TEST(LimitsTest, ConfigurationsPastTheLimitAreToLookAtOnly) {
  World world("9x8x8");
  world.Add(Grid(), {1, 1});
  const ConfigurationTable& table = *world.o.table[0];
  const std::int32_t past = table.Find({4, 4}, 0);
  ASSERT_GE(past, 0);
  EXPECT_FALSE(table.Allocatable(past));
  EXPECT_EQ(table.best_rate(), 9);  // 3 x 3
  EXPECT_EQ(GrowBundle(table, table.Find({3, 3}, 0), 0), -1);
  Allocation allocation;
  std::vector<NodeShare> shares;
  shares.reserve(4);
  for (NodeIndex node = 0; node < 4; ++node) shares.push_back({node, {1, 1}, 0xf});
  allocation.Add(0, past, shares);
  const std::string message = ValidateAllocation(world.o, allocation).message();
  EXPECT_NE(message.find("at most 3 and 3 units"), std::string::npos) << message;
}

TEST(LimitsTest, ConfigurationsWithoutProgressAreNotOnTheHull) {
  const ConfigurationTable table = Grid();
  for (const HullStep& step : table.hull(0)) EXPECT_GT(table[step.to].rate, 0);
  EXPECT_EQ(table.reference_rate(), 1);  // one worker and one server, not the cheaper lone server
  EXPECT_EQ(table.reference_cost(), 6);
}

}  // namespace
}  // namespace allot
