#pragma once
// What 'allot forecast' prints: when the jobs of a moment start and end, or how good forecasts
// were.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "wait_forecast/outlook_check.h"

namespace allot {

// A time of the workload as a date, where its origin is known.
std::string TimeText(const Workload& workload, Seconds time);

struct ShownForecast {
  const Workload& workload;
  const Observation& moment;
  const std::vector<JobOutlook>& jobs;  // by row of the moment
  std::string policy;
  int samples = 0;  // 0: SamplesFor
  std::uint64_t seed = 0;
  bool history = true;                    // false: nobody else is taken to come
  nlohmann::ordered_json read{};          // what reading the trace left out; null of a law
  nlohmann::ordered_json cluster_read{};  // likewise of the node list; null where it is no file
};
void ShowForecast(const ShownForecast& shown, bool as_json);

void ShowScores(const std::vector<OutlookScore>& scores, const OutlookCheck& check,
                const std::string& policy, bool as_json);

}  // namespace allot
