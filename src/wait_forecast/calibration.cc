#include "wait_forecast/calibration.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/file.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
// Times are told apart down to about this: an interval of decisions.
constexpr Seconds kGrain = 60;

double LogOf(Seconds ahead) { return std::log(std::max(0.0, ahead) + kGrain); }

// The p-quantile for one more of the same kind: of n differences the ceil((n + 1) p)-th.
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

OutlookCalibration OutlookCalibration::Fit(const std::vector<ForetoldTime>& times) {
  OutlookCalibration made;
  for (std::size_t what = 0; what < kForetoldNames.size(); ++what) {
    const auto shift_of = [&](std::size_t lead) {  // kLeads: of all
      Shift shift;
      std::array<std::vector<double>, 3> differences;
      for (const ForetoldTime& time : times) {
        if (static_cast<std::size_t>(time.what) != what) continue;
        if (lead < kLeads && LeadOf(time.ahead[1]) != lead) continue;
        ++shift.times;
        for (std::size_t l = 0; l < 3; ++l) {
          if (time.ahead[l] == kNever) continue;
          differences[l].push_back(LogOf(time.came) - LogOf(time.ahead[l]));
        }
      }
      for (std::size_t l = 0; l < 3; ++l) {
        if (!differences[l].empty()) shift.of_log[l] = ShiftOf(differences[l], kOutlookLevels[l]);
      }
      return shift;
    };
    const Shift of_all = shift_of(kLeads);
    if (of_all.times == 0) {
      throw UsageError("a calibration needs times of each kind that came, got none of '{}'",
                       kForetoldNames[what]);
    }
    for (std::size_t lead = 0; lead < kLeads; ++lead) {
      const Shift own = shift_of(lead);
      Shift& shift = made.shifts_[what][lead];
      shift = own.times >= static_cast<std::int64_t>(kFewest) ? own : of_all;
      shift.times = own.times;
    }
  }
  return made;
}

TimeQuantiles OutlookCalibration::Of(Foretold what, TimeQuantiles ahead) const {
  const Shift& shift = shifts_[static_cast<std::size_t>(what)][LeadOf(ahead[1])];
  for (std::size_t l = 0; l < ahead.size(); ++l) {
    if (ahead[l] == kNever || shift.of_log[l] == 0) continue;
    ahead[l] = std::max(0.0, std::exp(LogOf(ahead[l]) + shift.of_log[l]) - kGrain);
  }
  std::sort(ahead.begin(), ahead.end());
  return ahead;
}

void OutlookCalibration::Apply(Seconds now, std::vector<JobOutlook>* outlooks) const {
  const auto move = [&](Foretold what, TimeQuantiles* times) {
    for (Seconds& time : *times) time -= now;
    *times = Of(what, *times);
    for (Seconds& time : *times) time += now;
  };
  for (JobOutlook& outlook : *outlooks) {
    if (!outlook.told()) continue;
    if (outlook.waits) move(Foretold::kStart, &outlook.start);
    move(outlook.waits ? Foretold::kEndOfWaiting : Foretold::kEndOfRunning, &outlook.end);
    // It cannot end before it starts.
    for (std::size_t l = 0; outlook.waits && l < outlook.end.size(); ++l) {
      outlook.end[l] = std::max(outlook.end[l], outlook.start[l]);
    }
  }
}

Json OutlookCalibration::ToJson() const {
  Json classes = Json::array();
  for (std::size_t what = 0; what < kForetoldNames.size(); ++what) {
    for (std::size_t lead = 0; lead < kLeads; ++lead) {
      const Shift& shift = shifts_[what][lead];
      classes.push_back({{"what", kForetoldNames[what]},
                         {"lead", LeadName(lead)},
                         {"times", shift.times},
                         {"shift", shift.of_log}});
    }
  }
  return {{"version", kVersion}, {"classes", std::move(classes)}};
}

OutlookCalibration OutlookCalibration::FromFile(const std::string& path) {
  OutlookCalibration made;
  try {
    const Json json = Json::parse(ReadTextFile(path));
    if (json.at("version") != kVersion) {
      throw DataError("calibration '{}' must be of version {}, got {}", path, kVersion,
                      json.at("version").dump());
    }
    const Json& classes = json.at("classes");
    if (classes.size() != kForetoldNames.size() * kLeads) {
      throw DataError("calibration '{}' must have {} classes, got {}", path,
                      kForetoldNames.size() * kLeads, classes.size());
    }
    for (std::size_t c = 0; c < classes.size(); ++c) {
      Shift& shift = made.shifts_[c / kLeads][c % kLeads];
      const Json& one = classes.at(c);
      if (one.at("what") != kForetoldNames[c / kLeads] || one.at("lead") != LeadName(c % kLeads)) {
        throw DataError("calibration '{}': class {} must be '{}' {}, got {}", path, c,
                        kForetoldNames[c / kLeads], LeadName(c % kLeads), one.dump());
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
