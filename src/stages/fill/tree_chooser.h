#pragma once
// The place of a job in a topology: the lowest level that has room, and the tightest fit there
// (docs/topology.md has what other rules are worth). Of whole GPUs:
//
// 1. On one node that holds all, the tightest; a job that breaks a whole node takes one of the
//    level-1 domain with the fewest whole nodes.
// 2. Level by level, in the domain with the fewest whole nodes that has enough of them; below it in
//    as few domains as possible, again the tightest for what is left.
// 3. Where no domain of a level has enough whole nodes, but the GPUs, there on parts of nodes, the
//    emptiest first, unless a higher level with whole nodes is faster (Topology::LevelFactor).
//
// Jobs of other units, and clusters without a topology, are placed by PackedChooser. O(domains /
// 64) where step 2 finds a domain at its first level, and the job's nodes.

#include <cstdint>
#include <span>
#include <vector>

#include "stages/fill/packed_chooser.h"
#include "stages/fill/placer.h"

namespace allot {

class TreeChooser : public NodeChooser {
 public:
  bool Choose(const ClusterSpec& cluster, FreeMap& free, GpuTypeIndex type,
              const Resources& unit_demand, std::int32_t count, std::span<const NodeShare> held,
              std::vector<UnitShare>* chosen) override;

 private:
  // On whole nodes of the domain but for the last units, which go to the tightest part of one.
  void TakeWhole(const ClusterSpec& cluster, FreeMap& free, GpuTypeIndex type, int level,
                 Topology::Domain domain, std::int32_t count, std::vector<UnitShare>* chosen);
  // So many whole nodes below the domain.
  void TakeNodes(const ClusterSpec& cluster, FreeMap& free, GpuTypeIndex type, int level,
                 Topology::Domain domain, std::int32_t nodes, std::vector<UnitShare>* chosen);
  // On parts of nodes, in the domain of the level where they are fewest; false: none has the GPUs.
  bool TakeParts(const ClusterSpec& cluster, FreeMap& free, GpuTypeIndex type, int level,
                 std::int32_t count);
  double FactorOf(const Topology& topology, GpuTypeIndex type, std::span<const UnitShare> shares);

  PackedChooser packed_;
  std::vector<UnitShare> parts_;
  std::vector<UnitShare> of_domain_;
  std::vector<NodeShare> shares_;
};

}  // namespace allot
