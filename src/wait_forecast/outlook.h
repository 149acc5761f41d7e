#pragma once
// When the jobs of a moment will start and end, as quantiles. The moment is simulated ahead several
// times under the present policy, which starts afresh. Each time, the lengths of the jobs are drawn
// from the length model, given how long they have lasted; further jobs arrive as in a history.
// Nothing that a policy could not know is read. Used by 'allot forecast' and by the daemon.
//
// The same observation, model, history, seed and policy give the same quantiles, bit by bit.
//
// Many jobs make futures dear. OutlookOptions::most_rows bounds what all of them cost: all are then
// followed equally far, and the outlook says how far. What it says of the time before is as true.

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "length_model/length_model.h"
#include "sched/policy.h"
#include "wait_forecast/arrivals.h"

namespace allot {

inline constexpr std::array<double, 3> kOutlookLevels = {0.1, 0.5, 0.9};
// Absolute, by level, ascending; kNever: later than was looked ahead.
using TimeQuantiles = std::array<Seconds, 3>;

struct JobOutlook {
  JobIndex job = 0;
  bool waits = false;   // else it runs, and `start` is unknown (NaN)
  TimeQuantiles start;  // when it gets GPUs the next time
  TimeQuantiles end;
  // False: both are unknown, as it gets nothing of an idle cluster. It waits for what is in no
  // future: a node that is down, the end of a maintenance window.
  bool told() const { return !std::isnan(end[0]); }
};

struct Outlooks {
  std::vector<JobOutlook> jobs;  // one for each row, in their order
  Seconds until = kNever;        // absolute: how far all futures were followed
  std::int64_t rows_shown = 0;   // to the policy
};

struct OutlookOptions {
  int samples = 0;  // futures; 0: as many as SamplesFor says
  std::uint64_t seed = 0;
  Seconds horizon = 14 * 86400.0;  // no future is followed further
  double alike =
      0.5;  // correlation of the lengths of one user's jobs (wait_forecast/length_levels.h)
  // Nor further than this, once all have started: what runs then is taken to run on as it does.
  Seconds settle = 86400.0;
  // After what happens the policy is asked at once, else no sooner than in this part of the time
  // that it is ahead. 0: as in truth.
  double step = 0;
  // Of all futures together: rows that the policy is shown, over all decisions. 0: any number.
  std::int64_t most_rows = 0;
};

// Many for few jobs, few for many: the cost stays about the same.
int SamplesFor(std::int32_t jobs);

class Outlook {
 public:
  // `rules`: how the cluster is believed to behave; interval and restart costs are the
  // observation's. `past`: null: nobody else comes. UsageError for options out of range.
  Outlook(SimOptions rules, const OutlookOptions& options,
          std::shared_ptr<const PastArrivals> past);

  struct Moment {
    const Observation& observation;
    Seconds origin = 0;                                 // calendar time of 0, seconds since 1970
    const std::vector<std::string>* tenants = nullptr;  // names by Observation::tenant
  };
  // RunError where the policy breaks a rule. O(futures x what the simulation costs). `rest`: asked
  // between decisions; may wait, and throw.
  Outlooks Of(const Moment& now, const LengthModel& lengths, Policy& policy,
              const std::function<void()>& rest = {}) const;

 private:
  struct Names;
  // With the arrivals of the first `part` seconds, and one job more at their end. `work`: by job.
  Scenario WorldOf(const Observation& start, const Names& names,
                   const std::vector<PastArrivals::Arrival>& arrivals, std::span<const double> work,
                   Seconds part) const;

  SimOptions rules_;
  OutlookOptions options_;
  std::shared_ptr<const PastArrivals> past_;
};

}  // namespace allot
