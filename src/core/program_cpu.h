#pragma once
// CPU time of programs that a thread runs and waits for: it counts as the thread's own
// (core/cpu_time.h), for how often the daemon looks follows from what a look costs.

namespace allot {

void AddCpuSecondsOfProgram(double seconds);

}  // namespace allot
