#pragma once
// What a sizing stage hands out from: free resources per GPU type, and the least that is of use.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "cluster/type_totals.h"
#include "perf/configuration.h"

namespace allot {

class TypeCapacity : public TypeTotals {
 public:
  // `least`: the least that one more unit takes, for any job.
  void Reset(const ClusterSpec& cluster, const Resources& least = {1, 0}) {
    TypeTotals::Reset(cluster);
    least_ = least;
  }
  const Resources& least() const { return least_; }

  // Whether what is left is at least so many of the least units.
  bool Serves(std::int64_t units) const {
    const auto most = [](std::int32_t free, std::int32_t least) {
      return least > 0 ? std::int64_t{free / least} : std::numeric_limits<std::int32_t>::max();
    };
    std::int64_t sum = 0;
    for (const Resources& free : all()) {
      sum += std::min(most(free.gpus, least_.gpus), most(free.cpus, least_.cpus));
    }
    return sum >= units;
  }
  // What is left of the type is of no use to any job.
  bool Exhausted(GpuTypeIndex type) const { return !least_.FitsIn(free(type)); }
  // The same of all types.
  bool Exhausted() const {
    for (const Resources& free : all()) {
      if (least_.FitsIn(free)) return false;
    }
    return true;
  }

 private:
  Resources least_;
};

}  // namespace allot
