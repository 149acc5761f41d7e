// PAL's placements by hand; whole runs of its simulator are repeated by tests/unit/fidelity.

#include <gtest/gtest.h>

#include "cluster/gpu_slowness.h"
#include "sched/stages.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::AsSet;
using testing_support::GpuTable;
using testing_support::World;

// Rate 1 at 1 to 8 GPUs: configuration c has c + 1 GPUs.
const std::vector<std::vector<double>> kSpeeds = {{1, 1, 1, 1, 1, 1, 1, 1}};

// Jobs of classes on two nodes of four GPUs; for class a the GPUs differ.
class PalPlacementTest : public testing::Test {
 protected:
  PalPlacementTest() {
    auto slowness = std::make_shared<GpuSlowness>(cluster_);
    const double of_a[] = {1, 1.5, 1, 1.5, 1, 1, 1.2, 1.2};
    for (int gpu = 0; gpu < 8; ++gpu) slowness->Set("a", gpu / 4, gpu % 4, of_a[gpu]);
    cluster_.SetSlowness(std::move(slowness));
    world_.o.cluster = &cluster_;
  }

  void Add(const std::string& of_class) {
    ConfigurationTable table = GpuTable(kSpeeds);
    table.SetSlownessClass(of_class);
    world_.Add(std::move(table), {1});
  }

  // The others stay where they run.
  std::string PlaceFirst(const std::string& spec, int gpus) {
    std::vector<Grant> grants = {{0, gpus - 1}};
    for (std::int32_t row = 1; row < world_.o.rows(); ++row) {
      grants.push_back({row, world_.o.running[static_cast<std::size_t>(row)]});
    }
    Allocation allocation;
    MakeStage<Placement>("placement", spec)->Place(world_.o, grants, &allocation);
    std::string placed = AsSet(allocation)[0];
    return placed.substr(placed.find(": ") + 2);
  }

  ClusterSpec cluster_ = ClusterSpec::Parse("2x4");
  World world_{"2x4"};
};

TEST_F(PalPlacementTest, PmFirstTakesTheFastestGpus) {
  Add("a");
  // Both nodes have two of them.
  EXPECT_EQ(PlaceFirst("pal:rule=pmfirst", 2), "0/0x5");
  EXPECT_EQ(PlaceFirst("pal:rule=pmfirst", 4), "0/0x5 1/0x3");
  EXPECT_EQ(PlaceFirst("pal:rule=pmfirst", 6), "0/0x5 1/0xf");
}

TEST_F(PalPlacementTest, PmFirstPrefersNodesWithAsManyOfABinAsAreNeeded) {
  Add("a");
  Add("a");
  world_.Run(1, 0, {{0, 0b0001}});
  EXPECT_EQ(PlaceFirst("pal:rule=pmfirst", 1), "0/0x4");
  EXPECT_EQ(PlaceFirst("pal:rule=pmfirst", 2), "1/0x3");
}

TEST_F(PalPlacementTest, PalTakesSlowerGpusOnOneNodeWhereThePenaltyIsLarger) {
  Add("a");
  EXPECT_EQ(PlaceFirst("pal:penalty=1.1", 3), "0/0x5 1/0x1");
  EXPECT_EQ(PlaceFirst("pal:penalty=1.3", 3), "1/0x7");
  // Larger than a node: the penalty is paid anyway.
  EXPECT_EQ(PlaceFirst("pal:penalty=1.3", 6), "0/0x5 1/0xf");
}

TEST_F(PalPlacementTest, GpusOfOneGroupAreEquallyFast) {
  Add("a");
  Add("a");
  world_.Run(1, 0, {{0, 0b0001}});
  // Groups of 1 to 1.2 and 1.5.
  EXPECT_EQ(PlaceFirst("pal:rule=pmfirst,groups=2", 4), "1/0xf");
  EXPECT_EQ(PlaceFirst("pal:rule=pmfirst,groups=3", 4), "0/0x4 1/0x7");
}

TEST_F(PalPlacementTest, GpusOfAClassThatIsNotGivenAreAlike) {
  Add("b");
  Add("a");
  world_.Run(1, 1, {{0, 0b0011}});
  EXPECT_EQ(PlaceFirst("pal", 2), "1/0x3") << "the node with most GPUs";
  EXPECT_EQ(PlaceFirst("pal:rule=pmfirst", 2), "0/0xc") << "the node with as many as are needed";
}

TEST_F(PalPlacementTest, ClassesComeInOrderOfTheirNames) {
  Add("b");
  Add("a");
  Add("");
  Allocation allocation;
  const std::vector<Grant> grants = {{2, 0}, {0, 0}, {1, 0}};
  MakeStage<Placement>("placement", "pal:rule=pmfirst,anew=true")
      ->Place(world_.o, grants, &allocation);
  std::vector<JobIndex> jobs;
  for (const Allocation::Entry& entry : allocation.entries()) jobs.push_back(entry.job);
  EXPECT_EQ(jobs, (std::vector<JobIndex>{1, 0, 2}));
}

TEST_F(PalPlacementTest, PackedGivesTheRestOfALargeJobToTheEmptiestNode) {
  cluster_ = ClusterSpec::Parse("3x4");
  for (int job = 0; job < 3; ++job) Add("b");
  world_.Run(1, 2, {{0, 0b0111}});
  world_.Run(2, 0, {{1, 0b0001}});
  EXPECT_EQ(PlaceFirst("pal:rule=packed", 5), "1/0x2 2/0xf");
  EXPECT_EQ(PlaceFirst("packed", 5), "0/0x8 2/0xf");
}

TEST_F(PalPlacementTest, AnewMovesJobsThatRunAndStopsAtTheFirstThatDoesNotFit) {
  for (int job = 0; job < 3; ++job) Add("b");
  world_.Run(0, 1, {{1, 0b1100}});
  Allocation allocation;
  const std::vector<Grant> grants = {{0, 1}, {1, 7}, {2, 0}};
  MakeStage<Placement>("placement", "pal:rule=packed,anew=true")
      ->Place(world_.o, grants, &allocation);
  EXPECT_EQ(AsSet(allocation), (std::map<JobIndex, std::string>{{0, "configuration 1: 0/0x3"}}));
}

TEST_F(PalPlacementTest, RefusesUnknownRules) {
  EXPECT_EQ(ErrorOf(ExitCode::kUsage, [] { MakeStage<Placement>("placement", "pal:rule=best"); }),
            "placement 'pal': 'rule' must be pal, pmfirst, packed or random, got 'best'");
}

TEST(ChooserPlacement, ServesInOneWay) {
  EXPECT_EQ(ErrorOf(ExitCode::kUsage,
                    [] { MakeStage<Placement>("placement", "packed:victims=true,anew=true"); }),
            "placement 'packed': only one of 'victims' and 'anew' may be true, got both");
}

}  // namespace
}  // namespace allot
