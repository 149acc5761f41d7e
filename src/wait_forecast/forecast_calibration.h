#pragma once
// Corrects quantiles by their errors in earlier weeks. Lengths of one user's jobs are correlated
// and weeks differ; futures that draw both independently give intervals that can be too narrow.
//
// Times are classed by the predicted event and by how far ahead the median lies. In each class the
// quantile of level p is moved, in the logarithm of the time ahead, by the p-quantile of the
// difference observed - predicted, so that a fraction p of the observed times lies before it.
// (Split conformal prediction with one score a level: Vovk et al., Algorithmic Learning in a Random
// World, 2005; Romano et al., NeurIPS 2019.) A class with few times uses the shift of all classes
// of its event.

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "wait_forecast/wait_forecaster.h"

namespace allot {

enum class Predicted { kStart, kEndOfWaiting, kEndOfRunning };
inline constexpr std::array<const char*, 3> kPredictedNames = {"start", "end, waits", "end, runs"};

// Classes of the predicted median, from now: up to an hour, six hours, a day, longer.
inline constexpr std::array<Seconds, 3> kLeadEdges = {3600, 6 * 3600, 86400};
inline constexpr std::size_t kLeads = kLeadEdges.size() + 1;
std::size_t LeadOf(Seconds ahead);
const char* LeadName(std::size_t lead);

// A predicted time and the observed one, both in seconds from the moment of the prediction.
struct PredictedTime {
  Predicted what = Predicted::kStart;
  std::int64_t moment = 0;  // number of the moment
  JobIndex job = 0;
  TimeQuantiles ahead{};
  Seconds observed = kUnknown;
};

class ForecastCalibration {
 public:
  static constexpr std::size_t kFewest = 100;  // times that a class needs for its own shift

  // The identity.
  ForecastCalibration() = default;
  // Fits to observed times. UsageError if an event has none.
  static ForecastCalibration Fit(const std::vector<PredictedTime>& times);

  // Shifts quantiles in seconds from now. They stay >= 0 and ascending; kNever stays kNever.
  TimeQuantiles Shift(Predicted what, TimeQuantiles ahead) const;
  void Apply(Seconds now, std::vector<JobForecast>* forecasts) const;

  nlohmann::ordered_json ToJson() const;
  // Reads a file that ToJson wrote; DataError naming the file and the fault.
  static ForecastCalibration FromFile(const std::string& path);

 private:
  struct ClassShift {
    std::int64_t times = 0;  // observed ones in the class
    std::array<double, 3> of_log{};
  };
  std::array<std::array<ClassShift, kLeads>, 3> shifts_{};
};

}  // namespace allot
