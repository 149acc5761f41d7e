#pragma once
// Random runs: jobs that nobody chose, on nodes that may fail, under decisions that nobody would
// make. For tests of what holds in every run.

#include <string>
#include <utility>

#include "cluster/free_map.h"
#include "core/rng.h"
#include "sim/scenario.h"

namespace allot::testing_support {

inline Scenario AnyScenario(std::uint64_t seed, bool nodes_fail = true) {
  Rng rng(seed, "observed-free-map");
  Workload workload;
  workload.name = "any";
  for (int i = 0; i < 60; ++i) {
    Job job;
    job.id = std::to_string(i);
    job.submit = static_cast<double>(rng.Below(20000));
    job.duration = 100 + static_cast<double>(rng.Below(5000));
    job.gpus = 1 + static_cast<GpuCount>(rng.Below(4));
    workload.jobs.push_back(job);
  }
  workload.Finish();
  SimOptions options;
  if (nodes_fail) options.failures = "exponential:between=20000,repair=2000";
  options.seed = seed;
  return Scenario(std::move(workload), ClusterSpec::Parse("4x4"), options);
}

// Some of the jobs on the first GPUs that are free for them: what runs stays, moves, stops or
// starts.
inline Allocation AnyAllocation(const Observation& o, Rng* rng) {
  FreeMap free(*o.cluster);
  Allocation allocation;
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    const auto r = static_cast<std::size_t>(row);
    if (rng->Below(5) == 0) continue;
    const GpuCount gpus = (*o.table[r])[o.requested[r]].demand.gpus;
    for (NodeIndex node = 0; node < static_cast<NodeIndex>(o.cluster->nodes().size()); ++node) {
      if (free.free_gpus(node) < gpus || rng->Below(8) == 0) continue;
      NodeShare share;
      share.node = node;
      share.units = {static_cast<std::int16_t>(gpus), 0};
      share.gpus = free.Take(node, {gpus, 0});
      allocation.Add(o.job[r], o.requested[r], std::span(&share, 1));
      break;
    }
  }
  return allocation;
}

}  // namespace allot::testing_support
