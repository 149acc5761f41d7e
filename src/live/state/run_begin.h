#pragma once
// How a run begins, or goes on: its time 0 and what was known before this daemon. Used by the
// daemon; tests begin theirs the same way.

#include <optional>
#include <vector>

#include "live/runtimes/runtime.h"
#include "live/state/clock.h"
#include "live/state/journal.h"

namespace allot {

// Unix time at which the first job was submitted that waits or runs; `now` where there is none. So
// jobs keep their ages, for users and for policies, where a journal is lost or another daemon takes
// over.
double BeginOfRun(const RuntimeSnapshot& snapshot, double now);

struct RunBegin {
  double origin = kUnknown;  // Unix time of 0; NaN: nobody knows, it is now
  Seconds last = 0;          // of the journal's latest record
  // What the runtime showed, where it was asked: for the first poll, as some runtimes show the end
  // of a worker once.
  std::optional<RuntimeSnapshot> first;
};

// The journal tells the origin, else the runtime, which is asked only then. Where it does not
// answer either, a warning says so.
RunBegin FindRunBegin(const std::vector<TimedRecord>& past, Runtime& runtime,
                      const LiveClock::Source& time);

}  // namespace allot
