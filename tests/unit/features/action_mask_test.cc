// The action mask against ValidateAllocation, on worlds so small that every state, every action and
// every placement is tried.

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "cluster/validate.h"
#include "features/sequence_action.h"
#include "tests/unit/features/small_placements.h"

namespace allot {
namespace {

using testing_support::AddJobs;
using testing_support::Dl2Demands;
using testing_support::DrawDemands;
using testing_support::OddDemands;
using testing_support::Placements;
using testing_support::World;

class ActionMaskTest : public testing::Test {
 protected:
  void Play(const World& world, const std::vector<int>& actions, SequenceAction* sequence) {
    sequence->Begin(world.o);
    for (const int action : actions) ASSERT_TRUE(sequence->Take(action));
  }

  std::vector<std::int32_t> Granted(const World& world, const SequenceAction& sequence) {
    std::vector<std::int32_t> granted;
    granted.reserve(world.o.job.size());
    for (std::int32_t row = 0; row < world.o.rows(); ++row) {
      granted.push_back(sequence.granted(row));
    }
    return granted;
  }

  void ExpectValid(const World& world, SequenceAction* sequence) {
    Allocation allocation;
    sequence->Finish(&allocation);
    ASSERT_EQ(ValidateAllocation(world.o, allocation).message(), "");
    std::vector<std::int32_t> given(world.o.job.size(), -1);
    for (const Allocation::Entry& entry : allocation.entries()) {
      given[static_cast<std::size_t>(entry.job)] = entry.configuration;
    }
    ASSERT_EQ(given, Granted(world, *sequence)) << "the allocation is what the actions asked for";
  }

  // Configurations that one more unit of the kind (or one of each) would lead to.
  std::vector<std::int32_t> Wanted(const World& world, std::size_t row, std::int32_t from,
                                   int kind) {
    const ConfigurationTable& table = *world.o.table[row];
    const int own = static_cast<int>(table.kinds().size());
    if (own == 1 ? kind != 0 : (kind >= own && kind != kBundle)) return {};
    UnitCounts units = from < 0 ? UnitCounts{} : table[from].units;
    for (int k = 0; k < own; ++k) {
      if (kind == kBundle || k == kind) units.Add(static_cast<std::size_t>(k));
    }
    std::vector<std::int32_t> wanted;
    for (std::int32_t c = 0; c < table.size(); ++c) {
      const bool type_fits = from < 0 || table[c].gpu_type == table[from].gpu_type;
      if (type_fits && table[c].units == units) wanted.push_back(c);
    }
    return wanted;
  }

  void Explore(const World& world, std::vector<int> actions) {
    SequenceAction sequence(world.o.rows());
    Play(world, actions, &sequence);
    const std::vector<std::int32_t> granted = Granted(world, sequence);
    // How the same grants came about may matter for where units are.
    if (!seen_.insert({granted, actions}).second) return;
    ++states_;
    const std::vector<std::uint8_t> mask = sequence.mask();
    for (int action = 0; action < sequence.done_action(); ++action) {
      const auto row = static_cast<std::size_t>(action / sequence.kinds());
      if (mask[static_cast<std::size_t>(action)] == 1) {
        SequenceAction after(world.o.rows());
        Play(world, actions, &after);
        ASSERT_TRUE(after.Take(action));
        ExpectValid(world, &after);
        actions.push_back(action);
        Explore(world, actions);
        actions.pop_back();
        ++legal_;
        continue;
      }
      ASSERT_FALSE(sequence.Take(action));
      ASSERT_EQ(Granted(world, sequence), granted) << "a masked action changes nothing";
      for (const std::int32_t wanted :
           Wanted(world, row, granted[row], action % sequence.kinds())) {
        std::vector<std::int32_t> after = granted;
        after[row] = wanted;
        const bool validates = Placements(world, after).AnyValidates();
        (validates ? missed_ : refused_) += 1;
      }
    }
  }

  void ExploreWorlds(const std::vector<const char*>& clusters, int jobs, DrawDemands draw) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      Rng rng(seed, "action-mask-test");
      World world(clusters[seed % clusters.size()]);
      AddJobs(&rng, jobs, draw, &world);
      seen_.clear();
      Explore(world, {});
      ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
    }
    EXPECT_GT(states_, 500);
    EXPECT_GT(legal_, 500);
    EXPECT_GT(refused_, 500);
  }

  std::set<std::pair<std::vector<std::int32_t>, std::vector<int>>> seen_;
  int states_ = 0;
  int legal_ = 0;
  int refused_ = 0;  // masked, and no placement validates
  int missed_ = 0;   // masked, although some placement validates
};

TEST_F(ActionMaskTest, SaysWhatValidationSays) {
  ExploreWorlds({"2x2x4:a", "1x2x4:a,1x2x2:b"}, 2, Dl2Demands);
  EXPECT_EQ(missed_, 0);
}

TEST_F(ActionMaskTest, SaysWhatValidationSaysOfUnitsOfSeveralGpusAndOddCpus) {
  ExploreWorlds({"2x3x5x4:a", "1x4x7:a,1x3x5x2:a,1x2x3:b", "3x2x3:a"}, 2, OddDemands);
  EXPECT_EQ(missed_, 0);
}

// Larger worlds, random actions: what the mask allows can be taken and placed, whatever was asked
// before (the mask asks about every action, also about those that only fit after moving others).
TEST_F(ActionMaskTest, WhatIsAllowedIsPlacedWhateverWasAskedBefore) {
  int taken = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed, "action-mask-walk");
    World world(seed % 2 == 0 ? "2x4x9x3:a,2x8x11:a" : "3x6x13:a,2x4x7x3:b");
    AddJobs(&rng, 6, OddDemands, &world);
    SequenceAction sequence(world.o.rows());
    sequence.Begin(world.o);
    while (true) {
      std::vector<int> legal;
      for (int action = 0; action < sequence.done_action(); ++action) {
        if (sequence.mask()[static_cast<std::size_t>(action)] == 1) legal.push_back(action);
      }
      if (legal.empty()) break;
      ASSERT_TRUE(sequence.Take(legal[rng.Below(legal.size())])) << "seed " << seed;
      ++taken;
    }
    ExpectValid(world, &sequence);
    ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
  }
  EXPECT_GT(taken, 1000);
}

}  // namespace
}  // namespace allot
