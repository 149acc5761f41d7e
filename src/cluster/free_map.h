#pragma once
// Free GPUs, CPUs and memory per node, with the few operations that placement needs. Allocates only
// when it is reset to a larger cluster than before; every other operation is O(GPUs moved).

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "cluster/allocation.h"
#include "cluster/cluster_spec.h"
#include "cluster/domain_rooms.h"
#include "cluster/room_index.h"
#include "cluster/type_totals.h"

namespace allot {

class FreeMap {
 public:
  FreeMap() = default;
  explicit FreeMap(const ClusterSpec& cluster) { Reset(cluster); }
  void Reset(const ClusterSpec& cluster);
  // The same nodes and what is free of them; the arrays stay where they are.
  void CopyFrom(const FreeMap& other) {
    cluster_ = other.cluster_;
    masks_ = other.masks_;
    cpus_ = other.cpus_;
    memory_mb_ = other.memory_mb_;
    shared_ = other.shared_;
    totals_ = other.totals_;
    indexed_ = false;
    domains_indexed_ = false;
  }

  std::uint64_t gpu_mask(NodeIndex node) const { return masks_[static_cast<std::size_t>(node)]; }
  std::int32_t free_cpus(NodeIndex node) const { return cpus_[static_cast<std::size_t>(node)]; }
  std::int64_t free_memory_mb(NodeIndex node) const {
    return memory_mb_.empty() ? kUnlimitedMemory : memory_mb_[static_cast<std::size_t>(node)];
  }
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
    if (unit_demand.memory_mb > 0 && !memory_mb_.empty()) {
      const std::int64_t held = free_memory_mb(node) / unit_demand.memory_mb;
      units = static_cast<std::int32_t>(std::min<std::int64_t>(units, held));
    }
    return units;
  }

  // Nodes by their number of free GPUs; the first call after Reset costs O(nodes).
  const RoomIndex& rooms() {
    if (!indexed_) rooms_.Build(*cluster_, masks_);
    indexed_ = true;
    return rooms_;
  }

  // Domains of the cluster's topology, of a cluster that has one, by their whole free nodes; the
  // first call after Reset costs O(nodes x levels).
  const DomainRooms& domains() {
    if (!domains_indexed_) domains_.Build(*cluster_, masks_);
    domains_indexed_ = true;
    return domains_;
  }

  // Takes a demand that fits (checked) from the node, lowest free GPU numbers; returns their mask.
  std::uint64_t Take(NodeIndex node, const Resources& demand);
  // Whether some nodes of the type, as many as the span allows, have so many GPUs free together.
  // Looks at GPUs only. O(GPUs of a node), once rooms() was asked.
  bool HasRoom(GpuTypeIndex type, GpuCount gpus, const Span& span) {
    if (gpus > total_free(type).gpus) return false;
    return span.any() || rooms().Holds(type, gpus, span);
  }

  // Takes exactly these GPUs, and of `demand` what is not GPUs; false (and no change) when not all
  // of it is free.
  bool TakeExactly(NodeIndex node, std::uint64_t gpus, const Resources& demand = {}) {
    const auto n = static_cast<std::size_t>(node);
    if ((gpus & ~masks_[n]) != 0 || demand.cpus > cpus_[n]) return false;
    if (!memory_mb_.empty() && demand.memory_mb > memory_mb_[n]) return false;
    Set(node, masks_[n] ^ gpus);
    TakeRest(node, std::popcount(gpus), demand);
    return true;
  }
  // Beside the one job that has taken these GPUs (all of them, and shares none): takes of `demand`
  // what is not GPUs; false (and no change) when that cannot be.
  bool Join(NodeIndex node, std::uint64_t gpus, const Resources& demand);
  // Gives back what was taken (checked); of GPUs that two share, one share.
  void Release(NodeIndex node, std::uint64_t gpus, const Resources& demand = {});

 private:
  void Set(NodeIndex node, std::uint64_t mask) {
    std::uint64_t& present = masks_[static_cast<std::size_t>(node)];
    if (indexed_) {
      rooms_.Move(node, cluster_->nodes()[static_cast<std::size_t>(node)].type,
                  std::popcount(present), std::popcount(mask));
    }
    if (domains_indexed_) {
      domains_.Move(node, TypeOf(node), std::popcount(present), std::popcount(mask));
    }
    present = mask;
  }
  // GPUs are in the masks already.
  void TakeRest(NodeIndex node, GpuCount gpus, const Resources& demand) {
    const auto n = static_cast<std::size_t>(node);
    cpus_[n] -= demand.cpus;
    if (!memory_mb_.empty()) memory_mb_[n] -= demand.memory_mb;
    totals_.Take(TypeOf(node), {gpus, demand.cpus, demand.memory_mb});
  }
  GpuTypeIndex TypeOf(NodeIndex node) const {
    return cluster_->nodes()[static_cast<std::size_t>(node)].type;
  }

  const ClusterSpec* cluster_ = nullptr;
  std::vector<std::uint64_t> masks_;
  std::vector<std::int32_t> cpus_;
  std::vector<std::int64_t> memory_mb_;  // empty where no node states any
  std::vector<std::uint64_t> shared_;    // GPUs with two jobs; empty until there are some
  TypeTotals totals_;
  RoomIndex rooms_;
  bool indexed_ = false;
  DomainRooms domains_;
  bool domains_indexed_ = false;
};

}  // namespace allot
