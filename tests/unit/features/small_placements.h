#pragma once
// Worlds so small that every placement can be tried, and the trying: what masks of actions are
// compared with.

#include <vector>

#include "cluster/validate.h"
#include "tests/unit/sched/world.h"

namespace allot::testing_support {

struct Demands {
  Resources worker;
  Resources server;
};
using DrawDemands = Demands (*)(Rng* rng);

// DL2's units, of CPUs too: totals do not say what fits.
inline Demands Dl2Demands(Rng*) { return {{1, 1}, {0, 2}}; }

// Units of several GPUs, odd CPUs and memory, each job its own: none packs like another.
inline Demands OddDemands(Rng* rng) {
  const auto up_to = [rng](std::uint64_t most) {
    return static_cast<std::int32_t>(rng->Below(most + 1));
  };
  return {{1 + up_to(2), 2 * up_to(2) + 1, 1024 * up_to(2)}, {up_to(1), 2 * up_to(1) + 1}};
}

inline ConfigurationTable TwoKinds(Rng* rng, const Demands& demands) {
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

inline void AddJobs(Rng* rng, int jobs, DrawDemands draw, World* world) {
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

}  // namespace allot::testing_support
