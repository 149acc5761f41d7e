#pragma once
// The instants at which a simulated cluster is decided on, by its options: multiples of the
// interval, or the events themselves. Used by SimulatedCluster. Pure functions, O(1).

#include "core/types.h"
#include "sim/scenario.h"

namespace allot {

class DecisionTimes {
 public:
  explicit DecisionTimes(const SimOptions& options) : options_(options) {}  // outlives this

  Seconds IntervalAtOrAfter(Seconds time) const;  // the first scheduled instant >= time
  Seconds IntervalAfter(Seconds now) const;       // the first scheduled instant > now
  // The first instant >= time at which a decision can fall.
  Seconds AtOrAfter(Seconds time) const;
  // When an event of the future, or of now, is decided on.
  Seconds ForEvent(Seconds event, Seconds now) const;
  // IntervalAfter(now), or later where nothing has happened since `last_event` for very long.
  Seconds QuietAfter(Seconds now, Seconds last_event) const;
  // When a job whose work is done at `exact` ends; `ready`: not before the interval after that.
  Seconds EndOf(Seconds exact, Seconds ready) const;

 private:
  const SimOptions& options_;
};

}  // namespace allot
