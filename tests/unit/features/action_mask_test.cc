// The action mask against ValidateAllocation, on worlds so small that every state, every action and
// every placement is tried.

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <vector>

#include "cluster/validate.h"
#include "features/sequence_action.h"
#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::World;

struct Demands {
  Resources worker;
  Resources server;
};
using DrawDemands = Demands (*)(Rng* rng);

// DL2's units, of CPUs too: totals do not say what fits.
Demands Dl2Demands(Rng*) { return {{1, 1}, {0, 2}}; }

// Units of several GPUs, odd CPUs and memory, each job its own: none packs like another.
Demands OddDemands(Rng* rng) {
  const auto up_to = [rng](std::uint64_t most) {
    return static_cast<std::int32_t>(rng->Below(most + 1));
  };
  return {{1 + up_to(2), 2 * up_to(2) + 1, 1024 * up_to(2)}, {up_to(1), 2 * up_to(1) + 1}};
}

ConfigurationTable TwoKinds(Rng* rng, const Demands& demands) {
  const auto& [worker, server] = demands;
  std::vector<Configuration> configurations;
  for (std::int16_t w = 1; w <= 2; ++w) {
    for (std::int16_t s = 0; s <= 2; ++s) {
      if (rng->Below(6) == 0 && w + s > 1) continue;  // tables may have holes
      configurations.push_back({.units = {w, s},
                                .gpu_type = 0,
                                .demand = worker * w + server * s,
                                .cost = w + 0.25 * s,
                                .rate = w + 0.5 * s});
    }
  }
  return ConfigurationTable("two-kinds", {{"worker", worker}, {"ps", server}}, configurations);
}

void AddJobs(Rng* rng, int jobs, DrawDemands draw, World* world) {
  for (int i = 0; i < jobs; ++i) {
    if (rng->Below(2) == 0) {
      world->Add(TwoKinds(rng, draw(rng)), {1, 0});
      continue;
    }
    std::vector<std::vector<double>> rates = {std::vector<double>(1 + rng->Below(3), 1.0)};
    if (world->o.cluster->types().size() > 1) rates.emplace_back(rng->Below(3), 0.5);
    world->Add(rates);
  }
}

// Every way to place `units` of a job on the nodes, GPUs from the lowest that is not named yet:
// calls `next` with each until it says true.
class Placements {
 public:
  Placements(const World& world, const std::vector<std::int32_t>& configurations)
      : world_(world), configurations_(configurations), gpus_(Nodes(), 0) {}

  bool AnyValidates() { return Job(0); }

 private:
  std::size_t Nodes() const { return world_.o.cluster->nodes().size(); }

  bool Job(std::size_t row) {
    if (row == configurations_.size()) {
      Allocation allocation;
      for (std::size_t r = 0; r < row; ++r) {
        if (configurations_[r] < 0) continue;
        allocation.Add(world_.o.job[r], configurations_[r], shares_[r]);
      }
      return ValidateAllocation(world_.o, allocation).ok();
    }
    shares_.resize(row + 1);
    shares_[row].clear();
    if (configurations_[row] < 0) return Job(row + 1);
    return Node(row, 0, (*world_.o.table[row])[configurations_[row]].units);
  }

  bool Node(std::size_t row, std::size_t node, UnitCounts left) {
    if (node == Nodes()) return left == UnitCounts{} && Job(row + 1);
    const auto& kinds = world_.o.table[row]->kinds();
    for (int first = 0; first <= left.of(0); ++first) {
      for (int second = 0; second <= left.of(1); ++second) {
        const UnitCounts here{first, second};
        const GpuCount gpus = DemandOf(kinds, here).gpus;
        if (gpus_[node] + gpus > kMaxGpusPerNode) continue;
        const std::size_t held = shares_[row].size();
        if (here != UnitCounts{}) {
          const std::uint64_t mask = GpuMask(gpus_[node] + gpus) & ~GpuMask(gpus_[node]);
          shares_[row].push_back({static_cast<NodeIndex>(node), here, mask});
        }
        gpus_[node] += gpus;
        const bool found = Node(row, node + 1, left - here);
        gpus_[node] -= gpus;
        shares_[row].resize(held);
        if (found) return true;
      }
    }
    return false;
  }

  const World& world_;
  const std::vector<std::int32_t>& configurations_;
  std::vector<GpuCount> gpus_;  // named so far, by node
  std::vector<std::vector<NodeShare>> shares_;
};

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
