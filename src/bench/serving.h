#pragma once
// What a decision costs a daemon with many live jobs, with the checks that the daemon makes, and
// whether memory stays what it was. CPU time of the thread.

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "sched/policy.h"

namespace allot {

// {"decisions", "median_ms", "p99_ms", "worst_ms", "resident_mb_before", "resident_mb_after"};
// RunError when a decision fails.
nlohmann::ordered_json MeasureServing(std::unique_ptr<Policy> inside, int jobs, int decisions);

}  // namespace allot
