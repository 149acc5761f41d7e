#pragma once
// Free GPUs and CPUs per node, with the few operations that placement needs. Allocates only when it
// is reset to a larger cluster than before; every other operation is O(GPUs moved).

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "cluster/allocation.h"
#include "cluster/cluster_spec.h"
#include "cluster/room_index.h"
#include "cluster/type_totals.h"

namespace allot {

class FreeMap {
 public:
  FreeMap() = default;
  explicit FreeMap(const ClusterSpec& cluster) { Reset(cluster); }
  void Reset(const ClusterSpec& cluster);
  // The same nodes, GPUs and CPUs; memory is kept.
  void CopyFrom(const FreeMap& other) {
    cluster_ = other.cluster_;
    masks_ = other.masks_;
    cpus_ = other.cpus_;
    totals_ = other.totals_;
    indexed_ = false;
  }

  std::uint64_t gpu_mask(NodeIndex node) const { return masks_[static_cast<std::size_t>(node)]; }
  std::int32_t free_cpus(NodeIndex node) const { return cpus_[static_cast<std::size_t>(node)]; }
  GpuCount free_gpus(NodeIndex node) const { return std::popcount(gpu_mask(node)); }
  const TypeTotals& totals() const { return totals_; }
  const Resources& total_free(GpuTypeIndex type) const { return totals_.free(type); }

  // How many units of this demand the node can still hold, at most `wanted`.
  std::int32_t Capacity(NodeIndex node, const Resources& unit_demand, std::int32_t wanted) const {
    std::int32_t units = wanted;
    if (unit_demand.gpus > 0) {
      const GpuCount gpus = free_gpus(node);
      if (gpus == 0) return 0;
      units = std::min(units, unit_demand.gpus == 1 ? gpus : gpus / unit_demand.gpus);
    }
    if (unit_demand.cpus > 0) units = std::min(units, free_cpus(node) / unit_demand.cpus);
    return units;
  }

  // Nodes by their number of free GPUs; the first call after Reset costs O(nodes).
  const RoomIndex& rooms() {
    if (!indexed_) rooms_.Build(*cluster_, masks_);
    indexed_ = true;
    return rooms_;
  }

  // Takes a demand that fits (checked) from the node, lowest free GPU numbers; returns their mask.
  std::uint64_t Take(NodeIndex node, const Resources& demand);
  // Takes exactly these GPUs; false (and no change) when one of them or the CPUs are not free.
  bool TakeExactly(NodeIndex node, std::uint64_t gpus, std::int32_t cpus) {
    const auto n = static_cast<std::size_t>(node);
    if ((gpus & ~masks_[n]) != 0 || cpus > cpus_[n]) return false;
    Set(node, masks_[n] ^ gpus);
    cpus_[n] -= cpus;
    totals_.Take(TypeOf(node), {std::popcount(gpus), cpus});
    return true;
  }
  // Gives back what was taken (checked).
  void Release(NodeIndex node, std::uint64_t gpus, std::int32_t cpus);

 private:
  void Set(NodeIndex node, std::uint64_t mask) {
    std::uint64_t& present = masks_[static_cast<std::size_t>(node)];
    if (indexed_) {
      rooms_.Move(node, cluster_->nodes()[static_cast<std::size_t>(node)].type,
                  std::popcount(present), std::popcount(mask));
    }
    present = mask;
  }
  GpuTypeIndex TypeOf(NodeIndex node) const {
    return cluster_->nodes()[static_cast<std::size_t>(node)].type;
  }

  const ClusterSpec* cluster_ = nullptr;
  std::vector<std::uint64_t> masks_;
  std::vector<std::int32_t> cpus_;
  TypeTotals totals_;
  RoomIndex rooms_;
  bool indexed_ = false;
};

// What a share takes, from its units and the table's kinds.
inline Resources DemandOf(const std::vector<UnitKind>& kinds, const UnitCounts& units) {
  Resources demand;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    demand += kinds[kind].demand * units[kind];
  }
  return demand;
}

}  // namespace allot
