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

struct RunBegin {
  double origin = kUnknown;  // Unix time of 0; if unknown, time 0 is now
  Seconds last = 0;          // time of the journal's latest record
  // The runtime's snapshot, if it was polled. The first poll must use it, because some runtimes
  // show the end of a worker only once.
  std::optional<RuntimeSnapshot> first;
};

// Takes the origin from the journal, or polls the runtime if the journal has none. If the runtime
// does not answer, logs a warning.
RunBegin FindRunBegin(const std::vector<TimedRecord>& past, Runtime& runtime,
                      const LiveClock::Source& time);

}  // namespace allot
