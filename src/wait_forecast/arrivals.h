#pragma once
// Who may still come, as far as a history tells: blocks of its arrivals, drawn at random and put
// one behind the other. A moving block bootstrap (Künsch, Annals of Statistics 17(3), 1989): within
// a block, bursts and the habits of users stay as they were. A block begins at the same hour as
// what it stands for: of the same day of the week where the history has four such weeks, else of a
// day of the same kind (working day or weekend) where it has three such days, else of any day.

#include <memory>
#include <span>
#include <vector>

#include "core/rng.h"
#include "sim/scenario.h"

namespace allot {

class PastArrivals {
 public:
  // Of the jobs that were submitted before `until`, in the scenario's time. Blocks of `block`
  // seconds, > 0. UsageError where no job came before.
  PastArrivals(std::shared_ptr<const Scenario> past, Seconds until, Seconds block);

  struct Arrival {
    Seconds after = 0;  // from now, > 0
    JobIndex job = 0;   // of the past
  };
  // Of the time from now to `span` later, ascending; not all of those after `part`. `calendar`:
  // now, in seconds since 1970; of workloads without an origin, of the origin. O(arrivals).
  std::vector<Arrival> Draw(Rng& rng, Seconds calendar, Seconds span, Seconds part = kNever) const;

  // What it took, or where it had not ended at the date, what PastLengths says.
  double WorkOf(JobIndex job) const { return work_[static_cast<std::size_t>(job)]; }

  const Scenario& past() const { return *past_; }

 private:
  std::vector<Seconds> Starts(Seconds phase, Seconds every, Seconds length) const;
  Seconds StartOf(Rng& rng, Seconds calendar, Seconds length) const;

  std::shared_ptr<const Scenario> past_;
  Seconds until_;
  Seconds block_;
  Seconds origin_ = 0;  // calendar time of the past's 0
  Seconds begin_ = 0;   // of the history
  Seconds end_ = 0;
  std::vector<double> work_;  // by job
};

}  // namespace allot
