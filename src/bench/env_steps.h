#pragma once
// Environment throughput, for `allot bench simulate`: sequence steps on one core with 20 jobs, and
// what a second thread adds to a vector of environments. Random actions; each step includes writing
// the observation.

#include <nlohmann/json_fwd.hpp>

namespace allot {

// CPU time for the first; wall time for the second, which therefore needs a quiet machine.
nlohmann::ordered_json BenchEnv();

}  // namespace allot
