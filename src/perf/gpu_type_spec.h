#pragma once
// What a cluster has of a GPU type, as far as tables depend on it: made by ClusterSpec, read by
// TableCache.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/types.h"
#include "perf/units.h"

namespace allot {

struct GpuTypeSpec {
  std::string name;
  GpuCount gpus = 0;                                          // of all nodes
  GpuCount node_gpus = std::numeric_limits<GpuCount>::max();  // of its largest node
  bool limits_memory = false;  // whether one of its nodes says how much host memory it has
  double memory_gb = 0;        // of one GPU; 0: not limited
  bool limits_cpus = false;    // whether one of its nodes says how many CPUs it has
  struct Nodes {
    Resources each;
    std::int32_t count = 0;
  };
  std::vector<Nodes> nodes{};  // by what they have; empty: not said
};

}  // namespace allot
