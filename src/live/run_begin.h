#pragma once
// When a run began of which no journal tells: time 0 of its LiveClock.

#include "live/runtime.h"

namespace allot {

// Unix time at which the first job was submitted that waits or runs; `now` where there is none. So
// jobs keep their ages, for users and for policies, where a journal is lost or another daemon takes
// over.
double BeginOfRun(const RuntimeSnapshot& snapshot, double now);

}  // namespace allot
