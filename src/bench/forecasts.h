#pragma once
// Measures the cost of a wait forecast, and of a quote with five neighbours: CPU time of one
// thread.
//
// All jobs are submitted in the first minutes on half as many GPUs; a third of them runs then, the
// others wait. The history has two weeks of arrivals that keep these GPUs busy.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace allot {

// {"policy", "jobs", "gpus", "futures", "cpu_ms", "quote_cpu_ms"}, medians of five.
nlohmann::ordered_json MeasureForecast(const std::string& policy, int jobs);

}  // namespace allot
