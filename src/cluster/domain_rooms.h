#pragma once
// Domains of a topology by GPU type and number of free whole nodes, a bit each and level by level,
// so that the tightest domain for a gang is found without a walk over nodes: RoomIndex of the
// levels above the node. Kept by FreeMap, on demand.
//
// A whole node has all its GPUs free and as many as the largest node of its type.

#include <cstdint>
#include <vector>

#include "cluster/cluster_spec.h"
#include "cluster/topology.h"

namespace allot {

class DomainRooms {
 public:
  using Domain = Topology::Domain;

  // The cluster has a topology and outlives this. O(nodes x levels).
  void Build(const ClusterSpec& cluster, const std::vector<std::uint64_t>& free_masks);
  // O(levels).
  void Move(NodeIndex node, GpuTypeIndex type, GpuCount before, GpuCount after);

  GpuCount node_gpus(GpuTypeIndex type) const { return types_[Index(type)].node_gpus; }
  std::int32_t whole_nodes(GpuTypeIndex type, int level, Domain domain) const {
    return Of(type, level).whole[Index(domain)];
  }
  GpuCount free_gpus(GpuTypeIndex type, int level, Domain domain) const {
    return Of(type, level).free[Index(domain)];
  }
  // The domain with the fewest whole nodes that has at least so many, the lowest-numbered of
  // several; -1: none has. O(nodes of a domain + domains / 64).
  Domain Tightest(GpuTypeIndex type, int level, std::int32_t whole_nodes) const;

 private:
  struct Level {
    std::vector<std::int32_t> whole;  // by domain
    std::vector<GpuCount> free;       // by domain
    // By number of whole nodes: how many domains have it, and which, a bit each.
    std::vector<std::int32_t> count;
    std::vector<std::uint64_t> bits;  // [whole][word]
    std::size_t words = 0;
  };
  struct OfType {
    GpuCount node_gpus = 0;
    std::vector<Level> levels;  // from 1 to the top
  };

  template <typename T>
  static std::size_t Index(T value) {
    return static_cast<std::size_t>(value);
  }
  const Level& Of(GpuTypeIndex type, int level) const {
    return types_[Index(type)].levels[Index(level - 1)];
  }
  static void Set(Level* level, Domain domain, std::int32_t whole);

  const Topology* topology_ = nullptr;
  std::vector<OfType> types_;
};

}  // namespace allot
