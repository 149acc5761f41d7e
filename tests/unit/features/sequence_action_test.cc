#include "features/sequence_action.h"

#include <gtest/gtest.h>

#include "cluster/validate.h"
#include "stages/fill/increments.h"
#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::AsSet;
using testing_support::World;

// DL2's world: workers and parameter servers, both on GPU slots of their own; both must be there.
ConfigurationTable WorkersAndServers(std::int16_t most) {
  std::vector<Configuration> configurations;
  for (std::int16_t w = 1; w <= most; ++w) {
    for (std::int16_t s = 0; s <= most; ++s) {
      configurations.push_back({.units = {w, s},
                                .gpu_type = 0,
                                .demand = {w, w + 2 * s},
                                .cost = w + 0.25 * s,
                                .rate = w + 0.5 * s});
    }
  }
  return ConfigurationTable("ps-job", {{"worker", {1, 1}}, {"ps", {0, 2}}}, configurations);
}

// A random queue on a small cluster of two GPU types.
void AddJobsOfAllKinds(Rng* rng, World* world) {
  const auto jobs = 1 + rng->Below(4);
  for (std::uint64_t i = 0; i < jobs; ++i) {
    if (rng->Below(3) == 0) {
      world->Add(WorkersAndServers(static_cast<std::int16_t>(1 + rng->Below(3))), {1, 0});
    } else {
      world->Add(
          {std::vector<double>(1 + rng->Below(4), 1.0), std::vector<double>(rng->Below(4), 0.5)});
    }
  }
}

// Whether units of these demands, by GPU type, find nodes: every way is tried.
struct TypedUnit {
  GpuTypeIndex type;
  Resources demand;
};
bool Pack(const World& world, std::vector<Resources>* free, const std::vector<TypedUnit>& units,
          std::size_t next) {
  if (next == units.size()) return true;
  for (std::size_t node = 0; node < free->size(); ++node) {
    if (world.o.cluster->nodes()[node].type != units[next].type) continue;
    if (!units[next].demand.FitsIn((*free)[node])) continue;
    (*free)[node] -= units[next].demand;
    const bool packed = Pack(world, free, units, next + 1);
    (*free)[node] += units[next].demand;
    if (packed) return true;
  }
  return false;
}

// Whether one more unit can be had, worked out from the rules alone: a configuration with it exists
// on some type that the job may use, and nodes for the units of all jobs.
bool CanGrow(const World& world, const SequenceAction& state, std::int32_t row, int kind) {
  const ConfigurationTable& table = *world.o.table[static_cast<std::size_t>(row)];
  const int own = static_cast<int>(table.kinds().size());
  if (own == 1 ? kind != 0 : (kind >= own && kind != kBundle)) return false;
  const std::int32_t from = state.granted(row);
  for (const GpuTypeIndex type : table.types()) {
    if (from >= 0 && table[from].gpu_type != type) continue;
    const std::int32_t next = Grow(table, from, kind, type);
    if (next < 0) continue;
    std::vector<TypedUnit> units;
    for (std::int32_t other = 0; other < world.o.rows(); ++other) {
      const ConfigurationTable& its = *world.o.table[static_cast<std::size_t>(other)];
      const std::int32_t configuration = other == row ? next : state.granted(other);
      if (configuration < 0) continue;
      for (std::size_t k = 0; k < its.kinds().size(); ++k) {
        units.insert(units.end(), static_cast<std::size_t>(its[configuration].units.of(k)),
                     {its[configuration].gpu_type, its.kinds()[k].demand});
      }
    }
    std::vector<Resources> free;
    for (const Node& node : world.o.cluster->nodes()) free.push_back(node.capacity);
    if (Pack(world, &free, units, 0)) return true;
  }
  return false;
}

TEST(SequenceActionTest, AnActionIsLegalExactlyWhenItLeadsToAValidAllocation) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed, "sequence-action-test");
    World world("2x2x4:a,1x2x8:b");
    AddJobsOfAllKinds(&rng, &world);
    SequenceAction sequence(4);
    sequence.Begin(world.o);
    std::size_t served = 0;
    while (true) {
      std::vector<int> legal;
      for (int action = 0; action < sequence.done_action(); ++action) {
        const std::int32_t row = action / sequence.kinds();
        const bool masked = sequence.mask()[static_cast<std::size_t>(action)] == 1;
        const bool expected =
            row < world.o.rows() && CanGrow(world, sequence, row, action % sequence.kinds());
        EXPECT_EQ(masked, expected) << "seed " << seed << ", action " << action;
        if (masked) legal.push_back(action);
      }
      EXPECT_EQ(sequence.mask().back(), 1) << "done is always legal";
      if (legal.empty()) break;
      const int action = legal[rng.Below(legal.size())];
      if (sequence.granted(action / sequence.kinds()) < 0) ++served;
      ASSERT_TRUE(sequence.Take(action));
      Allocation allocation;
      sequence.Finish(&allocation);
      EXPECT_EQ(ValidateAllocation(world.o, allocation).message(), "");
      EXPECT_EQ(allocation.entries().size(), served) << "a granted job was not placed";
    }
  }
}

TEST(SequenceActionTest, WindowsFollowEachOtherAndKeepWhatWasGranted) {
  World world("1x4");
  for (int job = 0; job < 3; ++job) world.Add({{1, 2}});
  SequenceAction sequence(2);
  sequence.Begin(world.o);
  EXPECT_TRUE(sequence.Take(0));
  ASSERT_TRUE(sequence.NextWindow());
  EXPECT_EQ(sequence.slots(), 1);
  EXPECT_EQ(sequence.row_of(0), 2);
  EXPECT_TRUE(sequence.Take(0));
  EXPECT_FALSE(sequence.NextWindow());
  EXPECT_EQ(sequence.granted(0), 0);
  EXPECT_EQ(sequence.granted(2), 0);
}

TEST(SequenceActionTest, AllJobsCanBeAddressedAndSlotsGoBySubmission) {
  World world("1x4");
  for (int job = 0; job < 3; ++job) world.Add({{1}});
  world.o.submit = {30, 10, 20};
  SequenceAction sequence(SequenceAction::kAllJobs);
  sequence.Begin(world.o);
  EXPECT_EQ(sequence.action_count(), 3 * sequence.kinds() + 1);
  EXPECT_EQ(sequence.row_of(0), 1);
  EXPECT_EQ(sequence.row_of(2), 0);
}

TEST(SequenceActionTest, FirstBundlesGoToAllThatFit) {
  World world("1x2x4:a");
  for (int job = 0; job < 3; ++job) world.Add(WorkersAndServers(2), {1, 0});
  SequenceAction sequence(1);
  sequence.Begin(world.o);
  sequence.GiveFirstBundles();  // a worker and a server take 1 GPU and 3 CPUs
  EXPECT_GE(sequence.granted(0), 0);
  EXPECT_EQ(sequence.granted(1), -1);
}

TEST(SequenceActionTest, IllegalActionsChangeNothing) {
  World world("1x1");
  world.Add({{1}});
  SequenceAction sequence(2);
  sequence.Begin(world.o);
  const int worker = 0;
  EXPECT_FALSE(sequence.Take(-1));
  EXPECT_FALSE(sequence.Take(sequence.action_count()));
  EXPECT_FALSE(sequence.Take(sequence.done_action()));
  EXPECT_FALSE(sequence.Take(sequence.kinds()));  // of a job that is not there
  EXPECT_EQ(sequence.granted(0), -1);
  EXPECT_TRUE(sequence.Take(worker));
  EXPECT_FALSE(sequence.Take(worker));  // the GPU is taken
  EXPECT_EQ(sequence.granted(0), 0);
}

TEST(SequenceActionTest, JobsBeyondTheWindowCannotBeAddressed) {
  World world("1x4");
  for (int job = 0; job < 3; ++job) world.Add({{1}});
  SequenceAction sequence(2);
  sequence.Begin(world.o);
  EXPECT_EQ(sequence.action_count(), 2 * sequence.kinds() + 1);
  Allocation allocation;
  EXPECT_TRUE(sequence.Take(0));
  EXPECT_TRUE(sequence.Take(sequence.kinds()));
  sequence.Finish(&allocation);
  EXPECT_EQ(AsSet(allocation).size(), 2U);
}

TEST(SequenceActionTest, DoneAtOnceGivesNothing) {
  World world("1x4");
  world.Add({{1}});
  SequenceAction sequence(1);
  sequence.Begin(world.o);
  Allocation allocation;
  sequence.Finish(&allocation);
  EXPECT_TRUE(allocation.entries().empty());
}

}  // namespace
}  // namespace allot
