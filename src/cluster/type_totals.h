#pragma once
// Free resources of a cluster per GPU type. Whether a configuration is within them is the first
// rule of what fits: sizing stages and the action mask hand out from totals, FreeMap keeps them
// beside its nodes.

#include <cstddef>
#include <vector>

#include "cluster/cluster_spec.h"
#include "perf/configuration.h"

namespace allot {

class TypeTotals {
 public:
  void Reset(const ClusterSpec& cluster) {
    free_.clear();
    for (std::size_t t = 0; t < cluster.types().size(); ++t) {
      free_.push_back(cluster.total_of(static_cast<GpuTypeIndex>(t)));
    }
  }
  std::size_t types() const { return free_.size(); }
  const Resources& free(GpuTypeIndex type) const { return free_[static_cast<std::size_t>(type)]; }
  const std::vector<Resources>& all() const { return free_; }

  bool Fits(const Configuration& configuration) const {
    return configuration.demand.FitsIn(free(configuration.gpu_type));
  }
  // Whether a job that has `from` can have `to` of the same type instead.
  bool Fits(const Configuration& from, const Configuration& to) const {
    Resources more = to.demand;
    more -= from.demand;
    return more.FitsIn(free(to.gpu_type));
  }
  void Take(const Configuration& configuration) {
    Take(configuration.gpu_type, configuration.demand);
  }
  void Return(const Configuration& configuration) {
    Return(configuration.gpu_type, configuration.demand);
  }
  void Take(GpuTypeIndex type, const Resources& resources) {
    free_[static_cast<std::size_t>(type)] -= resources;
  }
  void Return(GpuTypeIndex type, const Resources& resources) {
    free_[static_cast<std::size_t>(type)] += resources;
  }

 private:
  std::vector<Resources> free_;
};

}  // namespace allot
