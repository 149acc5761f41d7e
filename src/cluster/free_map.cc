#include "cluster/free_map.h"

#include <bit>

#include "core/check.h"
#include "core/index.h"

namespace allot {
void FreeMap::Reset(const ClusterSpec& cluster) {
  cluster_ = &cluster;
  indexed_ = false;
  masks_ = cluster.gpu_masks();
  cpus_ = cluster.cpus();
  totals_.Reset(cluster);
}

std::uint64_t FreeMap::Take(NodeIndex node, const Resources& demand) {
  ALLOT_CHECK_LE(demand.gpus, free_gpus(node));
  ALLOT_CHECK_LE(demand.cpus, free_cpus(node));
  const std::uint64_t before = gpu_mask(node);
  std::uint64_t after = before;
  for (GpuCount i = 0; i < demand.gpus; ++i) after &= after - 1;  // clears the lowest set bit
  Set(node, after);
  cpus_[At(node)] -= demand.cpus;
  totals_.Take(TypeOf(node), demand);
  return before ^ after;
}

void FreeMap::Release(NodeIndex node, std::uint64_t gpus, std::int32_t cpus) {
  const Resources& capacity = cluster_->nodes()[At(node)].capacity;
  ALLOT_CHECK_EQ(gpus & gpu_mask(node), 0U);           // were taken
  ALLOT_CHECK_EQ(gpus & ~GpuMask(capacity.gpus), 0U);  // exist
  ALLOT_CHECK_LE(free_cpus(node) + cpus, capacity.cpus);
  Set(node, gpu_mask(node) | gpus);
  cpus_[At(node)] += cpus;
  totals_.Return(TypeOf(node), {std::popcount(gpus), cpus});
}

}  // namespace allot
