#include <gtest/gtest.h>

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

Placed Place(const World& world, const std::string& spec, const std::vector<Grant>& grants) {
  Allocation allocation;
  MakeStage<Placement>("placement", spec)->Place(world.o, grants, &allocation);
  EXPECT_EQ(ValidateAllocation(world.o, allocation).message(), "");
  return AsSet(allocation);
}

TEST(PlacementTest, KeepsRunningJobsInPlace) {
  for (const std::string& spec : Registry<PlacementInfo>::Global().ids()) {
    World world("2x4");
    world.Add(kAnySize);
    world.Add(kAnySize);
    world.Run(1, 1, {{1, 0b1010}});
    EXPECT_EQ(Place(world, spec, {{0, 3}, {1, 1}})[1], "configuration 1: 1/0xa") << spec;
  }
}

TEST(PlacementTest, LeavesOutWhatCannotBePlaced) {
  for (const std::string& spec : Registry<PlacementInfo>::Global().ids()) {
    World world("1x4");
    world.Add(kAnySize);
    world.Add(kAnySize);
    world.Add(kAnySize);
    const Placed placed = Place(world, spec, {{0, 2}, {1, 1}, {2, 0}});
    EXPECT_EQ(placed.count(1), 0U) << spec;
    EXPECT_EQ(placed.count(2), 1U) << spec;
  }
}

TEST(PackedTest, TakesTheTightestNodeThatHoldsAll) {
  World world("2x4");
  world.Add(kAnySize);
  world.Add(kAnySize);
  world.Run(0, 1, {{1, 0b0011}});
  EXPECT_EQ(Place(world, "packed", {{0, 1}, {1, 1}})[1], "configuration 1: 1/0xc");
}

TEST(PackedTest, SpansAsFewNodesAsPossible) {
  World world("3x4");
  world.Add(kAnySize);
  world.Add(kAnySize);
  world.Run(0, 2, {{0, 0b0111}});
  EXPECT_EQ(Place(world, "packed", {{0, 2}, {1, 4}})[1], "configuration 4: 0/0x8 1/0xf");
}

TEST(PackedTest, AGrowingJobKeepsItsNode) {
  World world("2x4");
  world.Add(kAnySize);
  world.Run(0, 0, {{1, 0b0100}});
  EXPECT_EQ(Place(world, "packed", {{0, 2}})[0], "configuration 2: 1/0x7");
}

TEST(FirstFitTest, FillsTheLowestNodesFirst) {
  World world("2x4");
  world.Add(kAnySize);
  world.Add(kAnySize);
  EXPECT_EQ(Place(world, "first-fit", {{0, 2}, {1, 1}}),
            (Placed{{0, "configuration 2: 0/0x7"}, {1, "configuration 1: 0/0x8 1/0x1"}}));
}

TEST(LeastLoadedTest, SpreadsUnitByUnit) {
  World world("2x4");
  world.Add(kAnySize);
  EXPECT_EQ(Place(world, "least-loaded", {{0, 2}})[0], "configuration 2: 0/0x3 1/0x1");
}

TEST(PlacementTest, TheOtherGpuTypeIsNotUsed) {
  World world("1x4:a,1x4:b");
  world.Add({{1, 1}, {1, 1}});  // configurations 0, 1 on a; 2, 3 on b
  EXPECT_EQ(Place(world, "packed", {{0, 3}})[0], "configuration 3: 1/0x3");
}

}  // namespace
}  // namespace allot
