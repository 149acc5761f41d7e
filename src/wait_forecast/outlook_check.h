#pragma once
// How good outlooks are: a run with a forecast at regular moments, compared with what came of them
// in the same run. Jobs that get GPUs at the very decision of the moment are not asked about: their
// start is no forecast.

#include <string>
#include <vector>

#include "sim/run.h"
#include "wait_forecast/calibration.h"
#include "wait_forecast/outlook.h"

namespace allot {

struct CheckOptions {
  Seconds from = 0;  // of the first moment
  Seconds until = kNever;
  Seconds every = 6 * 3600.0;
};

// Follows a run of a simulated cluster, and is asked when it is over.
class OutlookCheck : public DecisionListener {
 public:
  // `policy`: another object of the one that runs. All outlive the check.
  OutlookCheck(const Outlook& outlook, const Scenario& scenario, LengthModel lengths,
               Policy& policy, const CheckOptions& options);

  void OnDecision(const Observation& observation, const Allocation& allocation) override;

  // With what came, of those of which it is known. Call it once.
  std::vector<ForetoldTime> Times(const std::vector<JobRecord>& records);

  std::int64_t moments() const { return moments_; }
  double cpu_seconds() const { return cpu_seconds_; }  // of all forecasts

 private:
  void Foretell(const Observation& observation, const Allocation& allocation);

  const Outlook& outlook_;
  const Scenario& scenario_;
  LengthModel lengths_;
  Policy& policy_;
  CheckOptions options_;
  Seconds next_;
  std::int64_t moments_ = 0;
  double cpu_seconds_ = 0;
  std::vector<ForetoldTime> times_;
  std::vector<Seconds> made_;                       // by time foretold: when
  std::vector<std::vector<std::size_t>> expected_;  // by job: starts that have not come
};

// Of a class of times.
struct OutlookScore {
  std::string what;
  std::string lead;  // "all", or LeadName
  std::int64_t times = 0;
  std::int64_t moments = 0;   // that they are of
  double covered = kUnknown;  // share between the 10 and 90 % quantiles, both included
  double below = kUnknown;    // share before the 10 % quantile
  double above = kUnknown;    // after the 90 % quantile
  double pinball = kUnknown;  // mean loss over the levels (Koenker, Bassett, Econometrica 1978), s
  double width = kUnknown;    // median of the 80 % interval, s; infinite where it is open
};

// All kinds of times, and each by lead. kNever counts as `horizon` for the pinball loss.
std::vector<OutlookScore> ScoresOf(const std::vector<ForetoldTime>& times, Seconds horizon);

}  // namespace allot
