#pragma once
// Hulls of configuration tables (perf/configuration.h).

#include <cstdint>

#include "perf/units.h"

namespace allot {

// One step of the upper concave hull of (cost, rate) for one GPU type; steps of a hull have
// strictly falling gain per cost. `from` is the configuration below it (-1: nothing).
struct HullStep {
  std::int32_t from = -1;
  std::int32_t to = -1;
  float log_gain = 0;  // ln((rate_to - rate_from) / (cost_to - cost_from) / reference rate)
  float log_mid = 0;   // ln((rate_to + rate_from) / 2 / reference rate)
  double cost = 0;     // of `to`
  float unknown = 0;   // spread of the rate of `to` where that of `from` is known; else 0
  Resources most;      // componentwise the most that `to` and the steps below it demand
};

}  // namespace allot
