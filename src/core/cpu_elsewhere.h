#pragma once
// CPU time of programs and other threads that a thread waits for: it counts as the thread's own
// (core/cpu_time.h), because the daemon's poll interval follows from the cost of a poll.

namespace allot {

void AddCpuSecondsElsewhere(double seconds);

}  // namespace allot
