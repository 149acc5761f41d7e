#include "sim/decision_times.h"

#include <algorithm>
#include <cmath>

namespace allot {
namespace {

// Where nothing arrives or ends for longer than so many intervals (a year of 300 s), the time
// between two decisions grows with it: each is this part of the quiet time. A misread unit can make
// a job last for millennia.
constexpr double kMostQuietDecisions = 100'000;

}  // namespace

Seconds DecisionTimes::IntervalAtOrAfter(Seconds time) const {
  const Seconds interval = options_.interval;
  const Seconds tick = std::ceil(time / interval) * interval;
  return tick >= time ? tick : tick + interval;
}

Seconds DecisionTimes::IntervalAfter(Seconds now) const {
  return (std::floor(now / options_.interval) + 1) * options_.interval;
}

Seconds DecisionTimes::AtOrAfter(Seconds time) const {
  return options_.decide_on_events || options_.whole_rounds ? time : IntervalAtOrAfter(time);
}

Seconds DecisionTimes::ForEvent(Seconds event, Seconds now) const {
  if (options_.decide_on_events) return event;
  return std::max(AtOrAfter(event), IntervalAfter(now));
}

Seconds DecisionTimes::QuietAfter(Seconds now, Seconds last_event) const {
  const Seconds quiet = now - last_event;
  if (quiet <= kMostQuietDecisions * options_.interval) return IntervalAfter(now);
  return IntervalAtOrAfter(now + quiet / kMostQuietDecisions);
}

Seconds DecisionTimes::EndOf(Seconds exact, Seconds ready) const {
  if (!options_.charge_whole_intervals || exact == kNever) return exact;
  return IntervalAtOrAfter(std::max(ready, exact - kBoundarySlack * options_.interval));
}

}  // namespace allot
