#pragma once
// What a forecast of starts and ends costs (wait_forecast/outlook.h): CPU time of one thread.
//
// All jobs are submitted in the first minutes on half as many GPUs; a third of them runs then, the
// others wait. The history has two weeks of as many arrivals as keep these GPUs busy.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace allot {

// {"policy", "jobs", "gpus", "futures", "cpu_ms"}: the median of five.
nlohmann::ordered_json MeasureForecast(const std::string& policy, int jobs);

}  // namespace allot
