#pragma once
// Free resources per GPU type while a sizing stage hands them out.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "cluster/cluster_spec.h"
#include "perf/configuration.h"

namespace allot {

class TypeCapacity {
 public:
  // `least`: the least that one more unit takes, for any job.
  void Reset(const ClusterSpec& cluster, const Resources& least = {1, 0}) {
    least_ = least;
    free_.clear();
    for (std::size_t t = 0; t < cluster.types().size(); ++t) {
      free_.push_back(cluster.total_of(static_cast<GpuTypeIndex>(t)));
    }
  }
  std::size_t types() const { return free_.size(); }
  const Resources& least() const { return least_; }
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
  // Whether what is left is at least so many of the least units.
  bool Serves(std::int64_t units) const {
    const auto most = [](std::int32_t free, std::int32_t least) {
      return least > 0 ? std::int64_t{free / least} : std::numeric_limits<std::int32_t>::max();
    };
    std::int64_t sum = 0;
    for (const Resources& free : free_) {
      sum += std::min(most(free.gpus, least_.gpus), most(free.cpus, least_.cpus));
    }
    return sum >= units;
  }
  // What is left is of no use to any job.
  bool Exhausted() const {
    return std::none_of(free_.begin(), free_.end(),
                        [this](const Resources& free) { return least_.FitsIn(free); });
  }

 private:
  std::vector<Resources> free_;
  Resources least_;
};

}  // namespace allot
