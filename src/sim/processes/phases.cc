// Rates that change at given shares of a job's work, as when training moves on to longer sequences:
// from `at` on every rate of the job is multiplied by the factor.

#include <algorithm>

#include "core/error.h"
#include "sim/job_process.h"

namespace allot {
namespace {

class Phases : public JobProcess {
 public:
  Phases(std::vector<double> ends, std::vector<double> factors, ProcessPtr base)
      : ends_(std::move(ends)), factors_(std::move(factors)), base_(std::move(base)) {}

  Segment SegmentAt(const Placed& placed, double done) const override {
    const auto end = std::upper_bound(ends_.begin(), ends_.end(), done);
    Segment segment = SegmentOf(base_.get(), placed, done);
    if (end != ends_.begin())
      segment.rate *= factors_[static_cast<std::size_t>(end - ends_.begin()) - 1];
    if (end != ends_.end()) segment.until = std::min(segment.until, *end);
    return segment;
  }

 private:
  std::vector<double> ends_;  // done work, ascending
  std::vector<double> factors_;
  ProcessPtr base_;
};

ProcessInfo::Maker Make(const Params& params) {
  const std::vector<double> at = params.Numbers("at");
  const std::vector<double> factors = params.Numbers("factors");
  if (at.size() != factors.size()) {
    throw UsageError("progress 'phases': each share of 'at' needs a factor, got {} and {}",
                     at.size(), factors.size());
  }
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double before = i == 0 ? 0.0 : at[i - 1];
    if (!(at[i] > before && at[i] < 1)) {
      throw UsageError(
          "progress 'phases': shares of 'at' must rise between 0 and 1, got {} after {}", at[i],
          before);
    }
    if (!(factors[i] > 0)) {
      throw UsageError("progress 'phases': factors must be > 0, got {}", factors[i]);
    }
  }
  return [at, factors](double work, ProcessPtr base) -> ProcessPtr {
    std::vector<double> ends;
    ends.reserve(at.size());
    for (const double share : at) ends.push_back(share * work);
    return std::make_shared<Phases>(std::move(ends), factors, std::move(base));
  };
}

ALLOT_REGISTER(ProcessInfo,
               (ProcessInfo{
                   "phases",
                   "rates are multiplied by a factor from given shares of a job's work on",
                   {{"at", "0.5", "shares of the work, joined by |"},
                    {"factors", "0.5", "of the rates from there on, one a share, joined by |"}},
                   Make}));

}  // namespace
}  // namespace allot
