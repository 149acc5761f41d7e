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

  Resources used(NodeIndex node) const { return used_[static_cast<std::size_t>(node)]; }
  const UnitCounts& units(std::int32_t position) const {
    return units_[static_cast<std::size_t>(position)];
  }

  // A grant with its place for every position that got units, in order; places are valid until the
  // next Reset.
  void Grants(const Observation& observation, std::span<const std::int32_t> order,
              std::span<const GpuTypeIndex> types, std::vector<Grant>* grants);

 private:
  struct Placed {
    std::int32_t position;
    NodeIndex node;
    int kind;
    std::uint64_t gpus;
  };
  NodeIndex LeastLoaded(GpuTypeIndex type);
  std::size_t LevelOf(GpuTypeIndex type, const Resources& used) const {
    return static_cast<std::size_t>(type) * levels_ +
           static_cast<std::size_t>(used.gpus + used.cpus);
  }

  const ClusterSpec* cluster_ = nullptr;
  std::vector<Resources> used_;  // by node
  // Nodes by type and sum of resources in use, a bit each: bits_[LevelOf() * words_ + node / 64].
  std::size_t levels_ = 0;
  std::size_t words_ = 0;
  std::vector<std::uint64_t> bits_;
  std::vector<std::int32_t> count_;  // of nodes, by LevelOf()
  std::vector<std::size_t> lowest_;  // by type: no node below this level
  std::vector<UnitCounts> units_;    // by position
  std::vector<Placed> placed_;
  std::vector<std::int32_t> first_of_;  // by position, into by_position_
  std::vector<Placed> by_position_;
  std::vector<NodeShare> shares_;
};

}  // namespace allot
