#pragma once
// Numbers of GPUs that fit on nodes together whatever else is chosen so: 1, 2, 4, ... of a node,
// then whole nodes (Jayaram Subramanya et al., "Sia", SOSP'23, section 3.3).

#include <algorithm>
#include <cstddef>
#include <vector>

#include "cluster/cluster_spec.h"
#include "core/index.h"

namespace allot {

class NodeSizes {
 public:
  void Read(const ClusterSpec& cluster) {
    capacity_.assign(cluster.types().size(), 0);
    node_gpus_.assign(cluster.types().size(), 0);
    for (const Node& node : cluster.nodes()) {
      capacity_[At(node.type)] += node.capacity.gpus;
      node_gpus_[At(node.type)] = std::max(node_gpus_[At(node.type)], node.capacity.gpus);
    }
  }

  const std::vector<GpuCount>& capacity() const { return capacity_; }  // GPUs, by type

  // visit(GPUs, nodes), ascending. Nodes of a type are taken to be as large as its largest.
  template <typename Visit>
  void Each(GpuTypeIndex type, const Visit& visit) const {
    const GpuCount node = node_gpus_[At(type)];
    if (node == 0) return;
    for (GpuCount gpus = 1; gpus < node; gpus *= 2) visit(gpus, std::size_t{1});
    for (GpuCount nodes = 1; nodes * node <= capacity_[At(type)]; ++nodes) {
      visit(nodes * node, At(nodes));
    }
  }

 private:
  std::vector<GpuCount> capacity_;
  std::vector<GpuCount> node_gpus_;
};

}  // namespace allot
