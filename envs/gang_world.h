#pragma once
// What the settings of gangs on nodes that go have in common: the cluster, how it is played, and
// whether jobs are elastic.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cluster/cluster_spec.h"
#include "core/params.h"
#include "envs/gang_jobs.h"
#include "sim/scenario.h"

namespace allot {

class GangWorld {
 public:
  // `nodes` nodes of `per_node` GPUs. `params` has mode, interval, restart-cost, lengths and
  // elastic; UsageError for a value that is none of theirs.
  GangWorld(int nodes, GpuCount per_node, const Params& params);

  GpuCount gpus() const { return cluster_.total().gpus; }
  // Those of at most this part of the cluster.
  std::vector<GangClass> UpTo(double part, std::span<const GangClass> classes) const;
  // Elastic jobs have at most half of the cluster. Equal seeds give equal scenarios.
  std::shared_ptr<const Scenario> Play(Workload gangs, std::uint64_t seed) const;

  SimOptions options;

 private:
  ClusterSpec cluster_;
  bool elastic_;
};

}  // namespace allot
