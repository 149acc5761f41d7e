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

TEST(PlacementTest, EmptiestListsNodesAsItTakesThem) {
  World world("3x4");
  for (int job = 0; job < 3; ++job) world.Add(kAnySize);
  world.Run(0, 2, {{0, 0b0111}});
  world.Run(1, 0, {{1, 0b0001}});
  // Node 2 has most, then node 1.
  EXPECT_EQ(Place(world, "emptiest", {{0, 2}, {1, 0}, {2, 6}})[2], "configuration 6: 2/0xf 1/0xe");
  // Job 0 grows and is placed again; smallest first, it comes before job 2.
  const auto placed = [&](const std::string& spec) {
    return Place(world, spec, {{2, 5}, {0, 3}, {1, 0}})[0];
  };
  EXPECT_EQ(placed("emptiest:smallest-first=true"), "configuration 3: 0/0xf");
  EXPECT_EQ(placed("emptiest"), "configuration 3: 1/0xe 2/0x4");
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

// n GPUs on one node run at n, on several at n / 2: configurations 2 n - 2 and 2 n - 1.
ConfigurationTable SpanTable(int most, int node_gpus) {
  std::vector<Configuration> all;
  for (int n = 1; n <= most; ++n) {
    Configuration c{.units = {n}, .demand = {n, 0}, .cost = double(n), .rate = n / 2.0};
    c.span = {2, Span::kAny};
    if (n > 1) all.push_back(c);
    c.span = {1, 1};
    c.rate = n;
    if (n <= node_gpus) all.push_back(c);
  }
  return ConfigurationTable("spans", {{"gpu", {1, 0}}}, std::move(all));
}

// Whatever is granted, and whatever runs: what is placed keeps its span (Place validates), and who
// could run on what is left is not left out.
TEST(PlacementTest, HonoursSpans) {
  for (const std::string& spec : Registry<PlacementInfo>::Global().ids()) {
    for (std::uint64_t trial = 0; trial < 200; ++trial) {
      SCOPED_TRACE(fmt::format("{} {}", spec, trial));
      Rng rng(3, "placement_test", trial);
      const int nodes = 1 + static_cast<int>(rng.Below(4));
      World world(fmt::format("{}x4", nodes));
      std::vector<Grant> grants;
      FreeMap free(*world.o.cluster);
      for (int j = 0; j < 6; ++j) {
        const std::int32_t row = world.Add(SpanTable(4 * nodes, 4), {1});
        const ConfigurationTable& table = *world.o.table[std::size_t(row)];
        if (rng.Below(3) == 0) {  // runs somewhere
          std::vector<std::pair<NodeIndex, std::uint64_t>> places;
          int gpus = 0;
          for (NodeIndex node = 0; node < nodes; ++node) {
            const GpuCount taken = std::min<GpuCount>(free.free_gpus(node), GpuCount(rng.Below(3)));
            if (taken == 0) continue;
            places.emplace_back(node, free.Take(node, {taken, 0}));
            gpus += taken;
          }
          if (gpus > 0) {
            const std::int32_t running = table.Find({gpus}, 0, places.size());
            ASSERT_GE(running, 0);
            world.Run(row, running, places);
          }
        }
        if (rng.Below(4) == 0) continue;
        const bool stays = world.o.running[std::size_t(row)] >= 0 && rng.Below(2) == 0;
        grants.push_back(
            {row, stays ? world.o.running[std::size_t(row)]
                        : static_cast<std::int32_t>(rng.Below(std::uint64_t(table.size())))});
      }
      const Placed placed = Place(world, spec, grants);
      FreeMap left(*world.o.cluster);
      Allocation allocation;
      MakeStage<Placement>("placement", spec)->Place(world.o, grants, &allocation);
      for (const Allocation::Entry& entry : allocation.entries()) {
        for (const NodeShare& share : allocation.shares(entry)) {
          ASSERT_TRUE(left.TakeExactly(share.node, share.gpus));
        }
      }
      for (const Grant& grant : grants) {
        if (placed.contains(world.o.job[std::size_t(grant.row)])) continue;
        const Configuration& c = (*world.o.table[std::size_t(grant.row)])[grant.configuration];
        EXPECT_FALSE(left.HasRoom(0, c.demand.gpus, c.span)) << "row " << grant.row;
      }
    }
  }
}

TEST(PlacementTest, GoesOnWhereItRunsWhenNoNodeHasRoom) {
  World world("2x4");
  const std::int32_t row = world.Add(SpanTable(4, 4), {1});
  world.Add(kAnySize);
  const ConfigurationTable& table = *world.o.table[0];
  const std::int32_t far = table.Find({4}, 0, 2);
  world.Run(row, far, {{0, 0b0011}, {1, 0b1100}});
  world.Run(1, 0, {{0, 0b0100}});
  const std::int32_t near = table.Find({4}, 0, 1);
  // Node 1 is free for all of it; where the other job lies there, it goes on as it is.
  EXPECT_EQ(Place(world, "packed", {{1, 0}, {row, near}})[0],
            fmt::format("configuration {}: 1/0xf", near));
  World full("2x4");
  full.Add(SpanTable(4, 4), {1});
  full.Add(kAnySize);
  full.Add(kAnySize);
  full.Run(0, far, {{0, 0b0011}, {1, 0b1100}});
  full.Run(1, 0, {{0, 0b0100}});
  full.Run(2, 0, {{1, 0b0001}});
  EXPECT_EQ(Place(full, "packed", {{1, 0}, {2, 0}, {0, near}})[0],
            fmt::format("configuration {}: 0/0x3 1/0xc", far));
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

TEST(SpreadTest, OneUnitOnEveryNodeBeforeASecond) {
  World world("3x4");
  world.Add(kAnySize);
  world.Add(kAnySize);
  world.Run(0, 2, {{0, 0b0111}});
  // Least loaded would leave node 0 out.
  EXPECT_EQ(Place(world, "spread", {{0, 2}, {1, 3}})[1], "configuration 3: 0/0x8 1/0x3 2/0x1");
}

TEST(SpreadTest, FullNodesAreLeftOutOfLaterRounds) {
  World world("2x4");
  world.Add(kAnySize);
  world.Add(kAnySize);
  world.Run(0, 2, {{0, 0b0111}});
  EXPECT_EQ(Place(world, "spread", {{0, 2}, {1, 4}})[1], "configuration 4: 0/0x8 1/0xf");
}

// Domains: nodes 0 and 1, nodes 2 and 3. Some GPUs are held by jobs 0 to 3, one a node.
class LocalTest : public testing::Test {
 protected:
  LocalTest() : world_("4x4") {
    for (int job = 0; job < 5; ++job) world_.Add(kAnySize);
  }
  std::string PlaceBeside(const std::vector<int>& held, std::int32_t configuration) {
    std::vector<Grant> grants;
    for (std::int32_t node = 0; node < 4; ++node) {
      const int gpus = held[static_cast<std::size_t>(node)];
      if (gpus == 0) continue;
      world_.Run(node, gpus - 1, {{node, GpuMask(gpus)}});
      grants.push_back({node, gpus - 1});
    }
    grants.push_back({4, configuration});
    return Place(world_, "local:domain=2", grants)[4];
  }
  World world_;
};

TEST_F(LocalTest, TheTightestNodeThatHoldsAll) {
  EXPECT_EQ(PlaceBeside({1, 2, 0, 3}, 1), "configuration 1: 1/0xc");
}

TEST_F(LocalTest, ElseTheTightestDomain) {
  // 4 GPUs: 5 are free in the first domain, 4 in the second.
  EXPECT_EQ(PlaceBeside({1, 2, 1, 3}, 3), "configuration 3: 2/0xe 3/0x8");
}

TEST_F(LocalTest, InADomainTheEmptiestNodesFirst) {
  EXPECT_EQ(PlaceBeside({1, 1, 4, 4}, 3), "configuration 3: 0/0xe 1/0x2");
}

TEST_F(LocalTest, ElseFewDomains) {
  EXPECT_EQ(PlaceBeside({1, 1, 1, 4}, 7), "configuration 7: 0/0xe 1/0xe 2/0x6");
}

TEST(StickyTest, StayersKeepTheirGpusAndOthersGetTheNextFreeOnes) {
  World world("2x4");
  for (int job = 0; job < 4; ++job) world.Add(kAnySize);
  world.Run(1, 1, {{0, 0b0110}});
  world.Run(2, 0, {{1, 0b0001}});
  EXPECT_EQ(Place(world, "sticky", {{0, 0}, {1, 1}, {2, 0}, {3, 1}}),
            (Placed{{0, "configuration 0: 1/0x2"},
                    {1, "configuration 1: 0/0x6"},
                    {2, "configuration 0: 1/0x1"},
                    {3, "configuration 1: 0/0x9"}}));
}

TEST(StickyTest, LargeJobsComeBeforeSmallOnesThatStay) {
  World world("2x4");
  for (int job = 0; job < 2; ++job) world.Add(kAnySize);
  world.Run(0, 0, {{0, 0b0001}});
  EXPECT_EQ(Place(world, "sticky", {{0, 0}, {1, 3}}),
            (Placed{{0, "configuration 0: 1/0x1"}, {1, "configuration 3: 0/0xf"}}));
}

TEST(StickyTest, WhoRunsBesideAnotherThanBeforeDoesNotStay) {
  World world("1x4");
  world.Add(kAnySize);
  world.Run(0, 0, {{0, 0b0100}});
  EXPECT_EQ(Place(world, "sticky", {{0, 0, true}}), (Placed{{0, "configuration 0: 0/0x1"}}));
}

}  // namespace
}  // namespace allot
