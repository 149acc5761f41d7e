#include "features/sequence_action.h"

#include <gtest/gtest.h>

#include "cluster/validate.h"
#include "sched/increments.h"
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
void AddRandomJobs(Rng* rng, World* world) {
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

// Whether one more unit can be had, worked out from the rules alone: a configuration with it exists
// on some type that the job may use, and the jobs so far and this one can all be placed, validly.
bool CanGrow(const World& world, const SequenceAction& state,
             const std::vector<std::int32_t>& order, std::int32_t row, int kind) {
  const ConfigurationTable& table = *world.o.table[static_cast<std::size_t>(row)];
  const int own = static_cast<int>(table.kinds().size());
  if (own == 1 ? kind != 0 : (kind >= own && kind != kBundle)) return false;
  const std::int32_t from = state.granted(row);
  for (const GpuTypeIndex type : table.types()) {
    if (from >= 0 && table[from].gpu_type != type) continue;
    const std::int32_t next = Grow(table, from, kind, type);
    if (next < 0) continue;
    std::vector<Grant> grants;
    for (const std::int32_t other : order) {
      grants.push_back({other, other == row ? next : state.granted(other)});
    }
    if (from < 0) grants.push_back({row, next});
    Allocation allocation;
    MakeStage<Placement>("placement", "packed")->Place(world.o, grants, &allocation);
    EXPECT_EQ(ValidateAllocation(world.o, allocation).message(), "");
    if (allocation.entries().size() == grants.size()) return true;
  }
  return false;
}

TEST(SequenceActionTest, AnActionIsLegalExactlyWhenItLeadsToAValidAllocation) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed, "sequence-action-test");
    World world("2x2x4:a,1x2x8:b");
    AddRandomJobs(&rng, &world);
    SequenceAction sequence(4);
    sequence.Begin(world.o);
    std::vector<std::int32_t> order;  // rows by their first unit
    while (true) {
      std::vector<int> legal;
      for (int action = 0; action < sequence.done_action(); ++action) {
        const std::int32_t row = action / sequence.kinds();
        const bool masked = sequence.mask()[static_cast<std::size_t>(action)] == 1;
        const bool expected =
            row < world.o.rows() && CanGrow(world, sequence, order, row, action % sequence.kinds());
        EXPECT_EQ(masked, expected) << "seed " << seed << ", action " << action;
        if (masked) legal.push_back(action);
      }
      EXPECT_EQ(sequence.mask().back(), 1) << "done is always legal";
      if (legal.empty()) break;
      const int action = legal[rng.Below(legal.size())];
      const std::int32_t row = action / sequence.kinds();
      if (sequence.granted(row) < 0) order.push_back(row);
      ASSERT_TRUE(sequence.Take(action));
    }
    Allocation allocation;
    sequence.Finish(&allocation);
    EXPECT_EQ(ValidateAllocation(world.o, allocation).message(), "");
    EXPECT_EQ(allocation.entries().size(), order.size()) << "a granted job was not placed";
  }
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
