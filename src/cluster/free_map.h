#pragma once
// Free GPUs and CPUs per node, with the few operations that placement needs. Allocates only when it
// is reset to a larger cluster than before; every other operation is O(GPUs moved).

#include <cstdint>
#include <vector>

#include "cluster/allocation.h"
#include "cluster/cluster_spec.h"

namespace allot {

class FreeMap {
 public:
  FreeMap() = default;
  explicit FreeMap(const ClusterSpec& cluster) { Reset(cluster); }
  void Reset(const ClusterSpec& cluster);

  std::uint64_t gpu_mask(NodeIndex node) const { return masks_[static_cast<std::size_t>(node)]; }
  std::int32_t free_cpus(NodeIndex node) const { return cpus_[static_cast<std::size_t>(node)]; }
  GpuCount free_gpus(NodeIndex node) const;
  const Resources& total_free(GpuTypeIndex type) const {
    return type_free_[static_cast<std::size_t>(type)];
  }

  // How many units of this demand the node can still hold, at most `wanted`.
  std::int32_t Capacity(NodeIndex node, const Resources& unit_demand, std::int32_t wanted) const;

  // Takes a demand that fits (checked) from the node, lowest free GPU numbers; returns their mask.
  std::uint64_t Take(NodeIndex node, const Resources& demand);
  // Takes exactly these GPUs; false (and no change) when one of them or the CPUs are not free.
  bool TakeExactly(NodeIndex node, std::uint64_t gpus, std::int32_t cpus);
  // Gives back what was taken (checked).
  void Release(NodeIndex node, std::uint64_t gpus, std::int32_t cpus);

 private:
  Resources& TypeFreeOf(NodeIndex node);

  const ClusterSpec* cluster_ = nullptr;
  std::vector<std::uint64_t> masks_;
  std::vector<std::int32_t> cpus_;
  std::vector<Resources> type_free_;
};

// What a share takes, from its units and the table's kinds.
Resources DemandOf(const std::vector<UnitKind>& kinds, const UnitCounts& units);

}  // namespace allot
