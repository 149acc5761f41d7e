#pragma once
// Measures environment throughput, for `allot bench simulate`: sequence steps on one core with 20
// jobs, and the gain of a second thread for a vector of environments. Actions are random; each step
// includes writing the observation.

#include <nlohmann/json_fwd.hpp>

namespace allot {

// The first uses CPU time, the second wall time, which needs a quiet machine.
nlohmann::ordered_json BenchEnv();

}  // namespace allot
