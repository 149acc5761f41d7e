#pragma once
// The order of the slots of actions: by (submit, job).

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <vector>

#include "cluster/observation.h"
#include "core/index.h"

namespace allot {

// All rows of the observation, in this order.
inline void OrderBySubmit(const Observation& observation, std::vector<std::int32_t>* rows) {
  rows->resize(At(observation.rows()));
  std::iota(rows->begin(), rows->end(), 0);
  const auto earlier = [&](std::int32_t a, std::int32_t b) {
    return std::tie(observation.submit[At(a)], observation.job[At(a)]) <
           std::tie(observation.submit[At(b)], observation.job[At(b)]);
  };
  if (!std::is_sorted(rows->begin(), rows->end(), earlier)) {
    std::sort(rows->begin(), rows->end(), earlier);
  }
}

}  // namespace allot
