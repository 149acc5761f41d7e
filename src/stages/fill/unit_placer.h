#pragma once
// Places single units as DL2's simulator does (docs/fidelity.md): on the node with the least
// (CPUs + GPUs) in use, ties to the lowest number, and on no other, so that a unit may fail where
// another node would hold it. Used by sizings that must know where a unit goes before they grant
// the next one. A unit costs O(nodes / 64).

#include <cstdint>
#include <vector>

#include "sched/stages.h"

namespace allot {

class UnitPlacer {
 public:
  // Everything free, nothing placed. `jobs`: positions 0 .. jobs - 1.
  void Reset(const ClusterSpec& cluster, std::size_t jobs);

  // One unit of `kind` (or one of each kind: kBundle) of the job at `position` on the least loaded
  // node of the type. False, and no change, when it does not fit there.
  bool PlaceOnLeastLoaded(std::int32_t position, const std::vector<UnitKind>& kinds, int kind,
                          GpuTypeIndex type);
  // The same on a given node.
  bool PlaceOn(NodeIndex node, std::int32_t position, const std::vector<UnitKind>& kinds, int kind);

  Resources used(NodeIndex node) const { return nodes_[static_cast<std::size_t>(node)].used; }
  const UnitCounts& units(std::int32_t position) const {
    return units_[static_cast<std::size_t>(position)];
  }

  // A grant for every position that got units, in order.
  void Grants(const Observation& observation, std::span<const std::int32_t> order,
              std::span<const GpuTypeIndex> types, std::vector<Grant>* grants);
  // Where the i-th of these is; valid until the next Reset.
  std::span<const NodeShare> PlaceOf(std::size_t i) const {
    return std::span(shares_).subspan(share_begin_[i], share_begin_[i + 1] - share_begin_[i]);
  }

 private:
  struct NodeState {
    Resources used;
    Resources capacity;
    std::size_t level;  // of its type and the sum of resources in use: its row of bits_
  };
  struct Placed {
    std::int32_t position;
    NodeIndex node;
    int kind;
    std::uint64_t gpus;
  };
  NodeIndex LeastLoaded(GpuTypeIndex type);
  // Which configuration each position's units make, once what makes none is given back.
  void Settle(const Observation& observation, std::span<const std::int32_t> order,
              std::span<const GpuTypeIndex> types);
  std::size_t NodesOf(std::size_t position) const;
  // What is placed, by position and by node within.
  void SortPlaced();

  std::vector<NodeState> nodes_;
  std::size_t levels_ = 0;  // of each type
  std::size_t words_ = 0;
  std::vector<std::uint64_t>
      bits_;  // of the nodes at each level: bits_[level * words_ + node / 64]
  std::vector<std::int32_t> count_;  // of nodes, by level
  std::vector<std::size_t> lowest_;  // by type: no node below this level
  std::vector<UnitCounts> units_;    // by position
  std::vector<Placed> placed_;
  std::vector<std::int32_t> configuration_;  // by position; -1: none
  std::vector<std::int32_t> end_;            // where the next of a node, of a position goes
  std::vector<Placed> by_node_;
  std::vector<NodeShare> shares_;
  std::vector<std::size_t> share_begin_;  // by grant, and one more
};

}  // namespace allot
