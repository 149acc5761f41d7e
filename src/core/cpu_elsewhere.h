#pragma once
// CPU time of programs and other threads that a thread waits for: it counts as the thread's own
// (core/cpu_time.h), for how often the daemon looks follows from what a look costs.

namespace allot {

void AddCpuSecondsElsewhere(double seconds);

}  // namespace allot
