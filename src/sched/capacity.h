#pragma once
// Free resources per GPU type while a sizing stage hands them out.

#include <algorithm>
#include <vector>

#include "cluster/cluster_spec.h"
#include "perf/configuration.h"

namespace allot {

class TypeCapacity {
 public:
  // `least`: what one unit more takes at the least, whoever gets it.
  void Reset(const ClusterSpec& cluster, const Resources& least = {1, 0}) {
    least_ = least;
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
  // Nothing that is left serves anybody.
  bool Exhausted() const {
    return std::none_of(free_.begin(), free_.end(),
                        [this](const Resources& free) { return least_.FitsIn(free); });
  }

 private:
  std::vector<Resources> free_;
  Resources least_;
};

}  // namespace allot
