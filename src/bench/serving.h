#pragma once
// Measures the CPU time of a decision of a daemon with many live jobs, including the daemon's
// checks, and whether memory grows.

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "sched/policy.h"

namespace allot {

// {"decisions", "median_ms", "p99_ms", "worst_ms", "resident_mb_before", "resident_mb_after"};
// RunError if a decision fails.
nlohmann::ordered_json MeasureServing(std::unique_ptr<Policy> inside, int jobs, int decisions);

}  // namespace allot
