#pragma once
// What quantiles were off by in earlier weeks, taken away. Lengths of a user's jobs go together,
// and weeks differ; futures that draw both independently can be too sure of themselves.
//
// Of each class of times (what is foretold, and how far ahead its median lies) the quantile of
// level p is moved, in the logarithm of the time to wait, by the p-quantile of what came minus what
// was foretold. Then the share p of these times came before it. (Split conformal prediction with
// one score a level: Vovk et al., Algorithmic Learning in a Random World, 2005; Romano et al.,
// NeurIPS 2019.) A class of few times is moved as all classes of its kind together.

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "wait_forecast/outlook.h"

namespace allot {

// What is foretold.
enum class Foretold { kStart, kEndOfWaiting, kEndOfRunning };
inline constexpr std::array<const char*, 3> kForetoldNames = {"start", "end, waits", "end, runs"};

// Classes of the foretold median, from now: up to an hour, six hours, a day, longer.
inline constexpr std::array<Seconds, 3> kLeadEdges = {3600, 6 * 3600, 86400};
inline constexpr std::size_t kLeads = kLeadEdges.size() + 1;
std::size_t LeadOf(Seconds ahead);
const char* LeadName(std::size_t lead);

// A foretold time and what came of it. All as seconds from the moment it was foretold.
struct ForetoldTime {
  Foretold what = Foretold::kStart;
  std::int64_t moment = 0;  // counts the moments
  JobIndex job = 0;
  TimeQuantiles ahead{};
  Seconds came = kUnknown;
};

class OutlookCalibration {
 public:
  static constexpr std::size_t kFewest = 100;  // times of a class with shifts of its own

  // Moves nothing.
  OutlookCalibration() = default;
  // From times that came. UsageError where there are none of a kind.
  static OutlookCalibration Fit(const std::vector<ForetoldTime>& times);

  // Seconds from now, quantiles as the outlook has them. They stay >= 0, ascending, and kNever.
  TimeQuantiles Of(Foretold what, TimeQuantiles ahead) const;
  void Apply(Seconds now, std::vector<JobOutlook>* outlooks) const;

  nlohmann::ordered_json ToJson() const;
  // Of a file; DataError naming the file and what is wrong.
  static OutlookCalibration FromFile(const std::string& path);

 private:
  struct Shift {
    std::int64_t times = 0;  // that it was made from
    std::array<double, 3> of_log{};
  };
  std::array<std::array<Shift, kLeads>, 3> shifts_{};
};

}  // namespace allot
