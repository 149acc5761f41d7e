#pragma once
// The cluster as a graph in tensors of fixed size: its nodes, and an edge for each job that runs on
// a node, so that graph networks need no other state. The jobs' own features are those of
// features/encoder.h. What the columns of nodes are: NodeColumnTable() of features/feature_table.h.

#include <span>

#include "cluster/observation.h"

namespace allot {

inline constexpr int kNodeColumns = 3;
inline constexpr float kNodeBound = 1e6F;

// Places in a row of nodes.
enum NodeColumn : int { kNodeGpus, kNodeFreeGpus, kNodeType };

struct GraphTensors {
  std::span<float> nodes;  // nodes x kNodeColumns, row-major
  std::span<float> edges;  // slots x nodes: GPUs that the job of the slot holds on the node
};

// Of the first `slots` rows and all nodes. UsageError where the cluster has more than `nodes`: then
// edges would be lost. O(slots x nodes).
void WriteGraph(const Observation& observation, int slots, int nodes, const GraphTensors& graph);

}  // namespace allot
