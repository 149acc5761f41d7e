#pragma once
// Draws future arrivals from a history by a moving block bootstrap (Künsch, Annals of Statistics
// 17(3), 1989): blocks of its arrivals are drawn at random and joined, so that bursts and the
// habits of users stay as they were within a block. A block begins at the same time of the day as
// the time that it stands for: on the same day of the week if the history has four such weeks, else
// on a day of the same kind (working day or weekend) if it has three, else on any day.

#include <memory>
#include <span>
#include <vector>

#include "core/rng.h"
#include "sim/scenario.h"

namespace allot {

class PastArrivals {
 public:
  // Uses the jobs submitted before `until`, in the scenario's time, in blocks of `block` seconds,
  // > 0. UsageError without such jobs.
  PastArrivals(std::shared_ptr<const Scenario> past, Seconds until, Seconds block);

  struct Arrival {
    Seconds after = 0;  // from now, > 0
    JobIndex job = 0;   // in the past scenario
  };
  // Draws the arrivals of the next `span` seconds, ascending; those after `part` may be incomplete.
  // `calendar` is the present time in seconds since 1970 (or since the origin of a workload without
  // a date). O(arrivals).
  std::vector<Arrival> Draw(Rng& rng, Seconds calendar, Seconds span, Seconds part = kNever) const;

  // The job's work; that of PastLengths if the job had not ended at the date.
  double WorkOf(JobIndex job) const { return work_[static_cast<std::size_t>(job)]; }

  const Scenario& past() const { return *past_; }

 private:
  std::vector<Seconds> Starts(Seconds phase, Seconds every, Seconds length) const;
  Seconds StartOf(Rng& rng, Seconds calendar, Seconds length) const;

  std::shared_ptr<const Scenario> past_;
  Seconds until_;
  Seconds block_;
  Seconds origin_ = 0;  // calendar time of the past's 0
  Seconds begin_ = 0;   // the history's first and last time
  Seconds end_ = 0;
  std::vector<double> work_;  // by job
};

}  // namespace allot
