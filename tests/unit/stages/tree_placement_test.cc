// The stage 'tree': room, moves and delay.

#include <gtest/gtest.h>

#include "cluster/topology_text.h"
#include "cluster/validate.h"
#include "sched/stages.h"
#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::AsSet;
using testing_support::World;
using Placed = std::map<JobIndex, std::string>;

// Rate 1 at 1 to 8 GPUs: configuration c has c + 1 GPUs.
const std::vector<std::vector<double>> kAnySize = {{1, 1, 1, 1, 1, 1, 1, 1}};

// Nodes of 4 GPUs, two below each leaf; half of every iteration is communication.
class TreePlacementTest : public ::testing::Test {
 protected:
  void Begin(const std::string& nodes) {
    world_.emplace(nodes);
    ReadReport report;
    topology_ = ParseTopology("leaf=2:factor=2,all:factor=4", *world_->o.cluster, &report);
    cluster_ = *world_->o.cluster;
    cluster_.SetTopology(topology_);
    world_->o.cluster = &cluster_;
    world_->o.now = 10000;
  }
  // Of a job with 1,000 s of work that has run long enough to move.
  void Add(int configuration, const std::vector<std::pair<NodeIndex, std::uint64_t>>& on = {}) {
    const auto row = static_cast<std::int32_t>(world_->o.job.size());
    world_->Add(kAnySize);
    if (!on.empty()) world_->Run(row, configuration, on);
    Observation& o = world_->o;
    o.places.push_back({.communication = {0.5F, CommunicationPattern::kRing}});
    o.estimated_work.back() = 1000;
    o.restart_cost.back() = 10;
    o.attained_seconds.back() = 5000;
    o.changes.back() = on.empty() ? 0 : 1;
    o.waiting_since.back() = o.now;
  }
  Placed Place(const std::string& spec, const std::vector<Grant>& grants) {
    Allocation allocation;
    const auto stage = MakeStage<Placement>("placement", spec);
    stage->Place(world_->o, grants, &allocation);
    holds_until_ = stage->HoldsUntil();
    EXPECT_EQ(ValidateAllocation(world_->o, allocation).message(), "");
    return AsSet(allocation);
  }

  std::optional<World> world_;
  ClusterSpec cluster_;
  std::shared_ptr<const Topology> topology_;
  Seconds holds_until_ = 0;
};

TEST_F(TreePlacementTest, ASmallJobMovesForAGang) {
  Begin("4x4");
  Add(0, {{0, 0b1}});
  Add(0, {{2, 0b1}});
  Add(7);
  const Placed placed = Place("tree", {{0, 0}, {1, 0}, {2, 7}});
  EXPECT_EQ(placed.at(2), "configuration 7: 0/0xf 1/0xf");
  EXPECT_EQ(placed.at(0), "configuration 0: 2/0x2");
  EXPECT_EQ(Place("tree:room=0", {{0, 0}, {1, 0}, {2, 7}}).at(0), "configuration 0: 0/0x1");
}

TEST_F(TreePlacementTest, NobodyMovesForAGangThatLosesLessThanTheRestarts) {
  Begin("4x4");
  Add(0, {{0, 0b1}});
  Add(0, {{2, 0b1}});
  Add(7);
  world_->o.estimated_work.back() = 2;  // half a second a second, on 8 GPUs: 8 GPU seconds
  EXPECT_EQ(Place("tree", {{0, 0}, {1, 0}, {2, 7}}).at(0), "configuration 0: 0/0x1");
}

TEST_F(TreePlacementTest, AJobThatHasHardlyRunDoesNotMove) {
  Begin("4x4");
  Add(0, {{0, 0b1}});
  Add(0, {{2, 0b1}});
  for (const std::size_t row : {0U, 1U}) world_->o.attained_seconds[row] = 50;
  Add(7);
  EXPECT_EQ(Place("tree", {{0, 0}, {1, 0}, {2, 7}}).at(0), "configuration 0: 0/0x1");
}

TEST_F(TreePlacementTest, AGangMovesToABetterPlaceThatIsFree) {
  Begin("4x4");
  Add(7, {{0, 0b1111}, {2, 0b1111}});
  EXPECT_EQ(Place("tree", {{0, 7}}).at(0), "configuration 7: 0/0xf 1/0xf");
  EXPECT_EQ(Place("tree:moves=0", {{0, 7}}).at(0), "configuration 7: 0/0xf 2/0xf");
  EXPECT_EQ(Place("tree:moves=60", {{0, 7}}).at(0), "configuration 7: 0/0xf 2/0xf");
}

TEST_F(TreePlacementTest, BetweenArrivalsAndEndsEverybodyStays) {
  Begin("4x4");
  Add(7, {{0, 0b1111}, {2, 0b1111}});
  world_->o.decision = 1;
  world_->o.events.Clear();
  EXPECT_EQ(Place("tree", {{0, 7}}).at(0), "configuration 7: 0/0xf 2/0xf");
}

TEST_F(TreePlacementTest, AGangWaitsForABetterPlaceNoLongerThanItsDelay) {
  Begin("4x4");
  Add(3, {{0, 0b1111}});
  Add(3, {{2, 0b1111}});
  Add(7);
  const std::string spec = "tree:room=0,moves=0,delay=5";
  EXPECT_EQ(Place(spec, {{0, 3}, {1, 3}, {2, 7}}).count(2), 0U);
  EXPECT_EQ(holds_until_, 10000 + 5 * 10);
  world_->o.waiting_since.back() = 10000 - 50;
  EXPECT_EQ(Place(spec, {{0, 3}, {1, 3}, {2, 7}}).at(2), "configuration 7: 1/0xf 3/0xf");
  EXPECT_EQ(holds_until_, kNever);
}

}  // namespace
}  // namespace allot
