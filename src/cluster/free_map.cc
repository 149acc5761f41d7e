#include "cluster/free_map.h"

#include <bit>

#include "core/check.h"
#include "core/index.h"

namespace allot {
void FreeMap::Reset(const ClusterSpec& cluster) {
  cluster_ = &cluster;
  indexed_ = false;
  domains_indexed_ = false;
  masks_ = cluster.gpu_masks();
  cpus_ = cluster.cpus();
  memory_mb_ = cluster.memory_mb();
  shared_.clear();
  totals_.Reset(cluster);
}

std::uint64_t FreeMap::Take(NodeIndex node, const Resources& demand) {
  ALLOT_CHECK_LE(demand.gpus, free_gpus(node));
  ALLOT_CHECK_LE(demand.cpus, free_cpus(node));
  ALLOT_CHECK_LE(demand.memory_mb, free_memory_mb(node));
  const std::uint64_t before = gpu_mask(node);
  std::uint64_t after = before;
  for (GpuCount i = 0; i < demand.gpus; ++i) after &= after - 1;  // clears the lowest set bit
  Set(node, after);
  TakeRest(node, demand.gpus, demand);
  return before ^ after;
}

bool FreeMap::Join(NodeIndex node, std::uint64_t gpus, const Resources& demand) {
  if ((gpus & gpu_mask(node)) != 0 || demand.cpus > free_cpus(node)) return false;
  if (demand.memory_mb > free_memory_mb(node)) return false;
  if (shared_.empty()) shared_.resize(masks_.size());
  std::uint64_t& shared = shared_[At(node)];
  if ((gpus & shared) != 0) return false;
  shared |= gpus;
  TakeRest(node, 0, demand);
  return true;
}

void FreeMap::Release(NodeIndex node, std::uint64_t gpus, const Resources& demand) {
  const Resources& capacity = cluster_->nodes()[At(node)].capacity;
  ALLOT_CHECK_EQ(gpus & gpu_mask(node), 0U);           // were taken
  ALLOT_CHECK_EQ(gpus & ~GpuMask(capacity.gpus), 0U);  // exist
  ALLOT_CHECK_LE(free_cpus(node) + demand.cpus, capacity.cpus);
  std::uint64_t last = gpus;  // those that nobody else is on
  if (!shared_.empty()) {
    last &= ~shared_[At(node)];
    shared_[At(node)] &= ~gpus;
  }
  Set(node, gpu_mask(node) | last);
  TakeRest(node, -std::popcount(last), {0, -demand.cpus, -demand.memory_mb});
}

}  // namespace allot
