#include "features/graph_tensors.h"

#include <algorithm>
#include <bit>

#include "core/check.h"
#include "core/error.h"
#include "core/index.h"

namespace allot {

void WriteGraph(const Observation& observation, int slots, int nodes, const GraphTensors& graph) {
  const std::vector<Node>& cluster = observation.cluster->nodes();
  if (cluster.size() > At(nodes)) {
    throw UsageError("a graph of max_nodes={} cannot show the {} nodes of this episode's cluster",
                     nodes, cluster.size());
  }
  ALLOT_CHECK_EQ(graph.nodes.size(), At(nodes) * kNodeColumns);
  ALLOT_CHECK_EQ(graph.edges.size(), At(slots) * At(nodes));
  std::vector<std::uint64_t> free = observation.cluster->gpu_masks();
  std::fill(graph.edges.begin(), graph.edges.end(), 0.0F);
  for (std::int32_t row = 0; row < observation.rows(); ++row) {
    for (const NodeShare& share : observation.shares_of(row)) {
      free[At(share.node)] &= ~share.gpus;
      if (row >= slots) continue;
      graph.edges[At(row) * At(nodes) + At(share.node)] =
          static_cast<float>(std::popcount(share.gpus));
    }
  }
  for (std::size_t n = 0; n < At(nodes); ++n) {
    float* row = &graph.nodes[n * kNodeColumns];
    const bool there = n < cluster.size();
    row[kNodeGpus] = there ? static_cast<float>(cluster[n].capacity.gpus) : 0.0F;
    row[kNodeFreeGpus] = there ? static_cast<float>(std::popcount(free[n])) : 0.0F;
    row[kNodeType] = there ? static_cast<float>(cluster[n].type) : -1.0F;
  }
}

}  // namespace allot
