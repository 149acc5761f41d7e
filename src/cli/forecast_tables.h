#pragma once
// The tables of 'allot forecast': when the jobs of a moment start and end, or how good forecasts
// were.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "wait_forecast/forecast_check.h"

namespace allot {

// A time of the workload: as a date if its origin is known.
std::string TimeText(const Workload& workload, Seconds time);

struct ShownForecast {
  const Workload& workload;
  const Observation& moment;
  const std::vector<JobForecast>& jobs;  // by row of the moment
  std::string policy;
  int samples = 0;  // 0 stands for SamplesFor
  std::uint64_t seed = 0;
  bool history = true;                    // false if no further jobs arrive
  nlohmann::ordered_json read{};          // report of reading the trace; null for a law
  nlohmann::ordered_json cluster_read{};  // report of reading the node list; null without a file
};
void ShowForecast(const ShownForecast& shown, bool as_json);

void ShowScores(const std::vector<ForecastScore>& scores, const ForecastCheck& check,
                const std::string& policy, bool as_json);

}  // namespace allot
