#pragma once
// The beginning of a run, or its continuation: time 0 and what was known before this daemon. Used
// by the daemon and by tests.

#include <optional>
#include <vector>

#include "live/runtimes/runtime.h"
#include "live/state/clock.h"
#include "live/state/journal.h"

namespace allot {

// The Unix time at which the first unfinished job was submitted, or `now` without jobs. Jobs thus
// keep their ages when a journal is lost or another daemon takes over.
double BeginOfRun(const RuntimeSnapshot& snapshot, double now);

// Of a journal.
struct JournalTimes {
  std::optional<double> origin{};  // Unix time of the run's time 0; unset if no record tells it
  Seconds last = 0;                // of the latest record
  Seconds AheadOf(double now) const { return origin ? *origin + last - now : -kNever; }
};
JournalTimes TimesOf(const std::vector<TimedRecord>& past);

struct RunBegin {
  double origin = kUnknown;  // Unix time of 0; if unknown, time 0 is now
  Seconds last = 0;          // time of the journal's latest record
  // The runtime's snapshot, if it was polled. The first poll must use it, because some runtimes
  // show the end of a worker only once.
  std::optional<RuntimeSnapshot> first;
};

// How far the journal must end in the future before the clock counts as having been wrong. Less is
// what time servers correct.
inline constexpr Seconds kLeastJump = 60;

// Takes the origin from the journal, or polls the runtime if the journal has none. If the runtime
// does not answer, logs a warning. If the journal ends in the future, an earlier daemon began while
// the clock was ahead: the origin moves back, so that time goes on from there and is right, and
// LiveState::Apply moves what was before (record::Serve).
RunBegin FindRunBegin(const std::vector<TimedRecord>& past, Runtime& runtime,
                      const LiveClock::Source& time);

}  // namespace allot
