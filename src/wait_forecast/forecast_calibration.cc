#include "wait_forecast/forecast_calibration.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/file.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
// Smaller differences do not matter: about an interval of decisions.
constexpr Seconds kGrain = 60;

double LogOf(Seconds ahead) { return std::log(std::max(0.0, ahead) + kGrain); }

// The p-quantile for a further time of the same kind: the ceil((n + 1) p)-th of n differences.
double ShiftOf(std::vector<double> differences, double level) {
  const auto n = static_cast<double>(differences.size());
  const auto at = static_cast<std::ptrdiff_t>(std::clamp(std::ceil((n + 1) * level), 1.0, n)) - 1;
  std::nth_element(differences.begin(), differences.begin() + at, differences.end());
  return differences[static_cast<std::size_t>(at)];
}

}  // namespace

std::size_t LeadOf(Seconds ahead) {
  const auto edge = std::upper_bound(kLeadEdges.begin(), kLeadEdges.end(), ahead);
  return static_cast<std::size_t>(edge - kLeadEdges.begin());
}

const char* LeadName(std::size_t lead) {
  constexpr std::array<const char*, kLeads> kNames = {"up to 1 h", "1 to 6 h", "6 to 24 h",
                                                      "over 24 h"};
  return kNames[lead];
}

ForecastCalibration ForecastCalibration::Fit(const std::vector<PredictedTime>& times) {
  ForecastCalibration made;
  for (std::size_t what = 0; what < kPredictedNames.size(); ++what) {
    const auto shift_of = [&](std::size_t lead) {  // kLeads: all classes together
      ClassShift shift;
      std::array<std::vector<double>, 3> differences;
      for (const PredictedTime& time : times) {
        if (static_cast<std::size_t>(time.what) != what) continue;
        if (lead < kLeads && LeadOf(time.ahead[1]) != lead) continue;
        ++shift.times;
        for (std::size_t l = 0; l < 3; ++l) {
          if (time.ahead[l] == kNever) continue;
          differences[l].push_back(LogOf(time.observed) - LogOf(time.ahead[l]));
        }
      }
      for (std::size_t l = 0; l < 3; ++l) {
        if (!differences[l].empty()) shift.of_log[l] = ShiftOf(differences[l], kForecastLevels[l]);
      }
      return shift;
    };
    const ClassShift of_all = shift_of(kLeads);
    if (of_all.times == 0) {
      throw UsageError("a calibration needs observed times of each kind, got none of '{}'",
                       kPredictedNames[what]);
    }
    for (std::size_t lead = 0; lead < kLeads; ++lead) {
      const ClassShift own = shift_of(lead);
      ClassShift& shift = made.shifts_[what][lead];
      shift = own.times >= static_cast<std::int64_t>(kFewest) ? own : of_all;
      shift.times = own.times;
    }
  }
  return made;
}

TimeQuantiles ForecastCalibration::Shift(Predicted what, TimeQuantiles ahead) const {
  const ClassShift& shift = shifts_[static_cast<std::size_t>(what)][LeadOf(ahead[1])];
  for (std::size_t l = 0; l < ahead.size(); ++l) {
    if (ahead[l] == kNever || shift.of_log[l] == 0) continue;
    ahead[l] = std::max(0.0, std::exp(LogOf(ahead[l]) + shift.of_log[l]) - kGrain);
  }
  std::sort(ahead.begin(), ahead.end());
  return ahead;
}

void ForecastCalibration::Apply(Seconds now, std::vector<JobForecast>* forecasts) const {
  const auto move = [&](Predicted what, TimeQuantiles* times) {
    for (Seconds& time : *times) time -= now;
    *times = Shift(what, *times);
    for (Seconds& time : *times) time += now;
  };
  for (JobForecast& forecast : *forecasts) {
    if (!forecast.known()) continue;
    if (forecast.waits) move(Predicted::kStart, &forecast.start);
    move(forecast.waits ? Predicted::kEndOfWaiting : Predicted::kEndOfRunning, &forecast.end);
    // No job ends before it starts.
    for (std::size_t l = 0; forecast.waits && l < forecast.end.size(); ++l) {
      forecast.end[l] = std::max(forecast.end[l], forecast.start[l]);
    }
  }
}

Json ForecastCalibration::ToJson() const {
  Json classes = Json::array();
  for (std::size_t what = 0; what < kPredictedNames.size(); ++what) {
    for (std::size_t lead = 0; lead < kLeads; ++lead) {
      const ClassShift& shift = shifts_[what][lead];
      classes.push_back({{"what", kPredictedNames[what]},
                         {"lead", LeadName(lead)},
                         {"times", shift.times},
                         {"shift", shift.of_log}});
    }
  }
  return {{"version", kVersion}, {"classes", std::move(classes)}};
}

ForecastCalibration ForecastCalibration::FromFile(const std::string& path) {
  ForecastCalibration made;
  try {
    const Json json = Json::parse(ReadTextFile(path));
    if (json.at("version") != kVersion) {
      throw DataError("calibration '{}' must be of version {}, got {}", path, kVersion,
                      json.at("version").dump());
    }
    const Json& classes = json.at("classes");
    if (classes.size() != kPredictedNames.size() * kLeads) {
      throw DataError("calibration '{}' must have {} classes, got {}", path,
                      kPredictedNames.size() * kLeads, classes.size());
    }
    for (std::size_t c = 0; c < classes.size(); ++c) {
      ClassShift& shift = made.shifts_[c / kLeads][c % kLeads];
      const Json& one = classes.at(c);
      if (one.at("what") != kPredictedNames[c / kLeads] || one.at("lead") != LeadName(c % kLeads)) {
        throw DataError("calibration '{}': class {} must be '{}' {}, got {}", path, c,
                        kPredictedNames[c / kLeads], LeadName(c % kLeads), one.dump());
      }
      shift.times = one.at("times");
      shift.of_log = one.at("shift").get<std::array<double, 3>>();
      for (const double value : shift.of_log) {
        if (std::abs(value) <= 50) continue;
        throw DataError("calibration '{}': shifts must be from -50 to 50, got {} in class {}", path,
                        value, c);
      }
    }
  } catch (const Json::exception& error) {
    throw DataError("calibration '{}' is not what 'allot forecast --fit' writes: {}", path,
                    error.what());
  }
  return made;
}

}  // namespace allot
