#pragma once
// Free resources per GPU type while a sizing stage hands them out.

#include <vector>

#include "cluster/cluster_spec.h"
#include "perf/configuration.h"

namespace allot {

class TypeCapacity {
 public:
  void Reset(const ClusterSpec& cluster) {
    free_.clear();
    for (std::size_t t = 0; t < cluster.types().size(); ++t) {
      free_.push_back(cluster.total_of(static_cast<GpuTypeIndex>(t)));
    }
  }
  const Resources& free(GpuTypeIndex type) const { return free_[static_cast<std::size_t>(type)]; }

  bool Fits(const Configuration& configuration) const {
    return configuration.demand.FitsIn(free(configuration.gpu_type));
  }
  void Take(const Configuration& configuration) {
    free_[static_cast<std::size_t>(configuration.gpu_type)] -= configuration.demand;
  }
  void Return(const Configuration& configuration) {
    free_[static_cast<std::size_t>(configuration.gpu_type)] += configuration.demand;
  }
  bool Exhausted() const {
    for (const Resources& free : free_) {
      if (free.gpus > 0) return false;
    }
    return true;
  }

 private:
  std::vector<Resources> free_;
};

}  // namespace allot
