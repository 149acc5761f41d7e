#pragma once
// When the jobs of a moment will start and end, as quantiles. The moment is simulated ahead several
// times under the present policy, which starts afresh. Each time, the lengths of the jobs are drawn
// from the length model, given how long they have lasted; further jobs arrive as in a history.
// Nothing that a policy could not know is read. Used by 'allot forecast' and by the daemon.
//
// The same observation, model, history, seed and policy give the same quantiles, bit by bit.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "forecast/length_model.h"
#include "outlook/arrivals.h"
#include "sched/policy.h"

namespace allot {

inline constexpr std::array<double, 3> kOutlookLevels = {0.1, 0.5, 0.9};
// Absolute, by level, ascending; kNever: later than was looked ahead.
using TimeQuantiles = std::array<Seconds, 3>;

struct JobOutlook {
  JobIndex job = 0;
  bool waits = false;   // else it runs, and `start` is unknown (NaN)
  TimeQuantiles start;  // when it gets GPUs the next time
  TimeQuantiles end;
};

struct OutlookOptions {
  int samples = 0;  // futures; 0: as many as SamplesFor says
  std::uint64_t seed = 0;
  Seconds horizon = 14 * 86400.0;  // no future is followed further
  double alike = 0.5;  // correlation of the lengths of one user's jobs (outlook/length_levels.h)
  // Nor further than this, once all have started: what runs then is taken to run on as it does.
  Seconds settle = 86400.0;
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
  // One for each row, in their order. RunError where the policy breaks a rule. O(futures x what the
  // simulation costs).
  std::vector<JobOutlook> Of(const Moment& now, const LengthModel& lengths, Policy& policy) const;

 private:
  struct Names;
  struct Times;
  // With the arrivals of the first `part` seconds, and one job more at their end.
  Scenario WorldOf(const Observation& start, const Names& names,
                   const std::vector<PastArrivals::Arrival>& arrivals,
                   const std::vector<double>& work, Seconds part) const;
  // False where more than that part is to be played: nothing is known then.
  bool Play(const Scenario& world, const Observation& start, const Moment& now, Policy& policy,
            int sample, Seconds part, Times* times) const;

  SimOptions rules_;
  OutlookOptions options_;
  std::shared_ptr<const PastArrivals> past_;
};

}  // namespace allot
