#pragma once
// CPU time of the calling thread, for figures that people read and for how often the daemon looks;
// it plays no part in results.

namespace allot {

// With that of the programs that it waited for, as far as it was told.
double ThreadCpuSeconds();

// Of a program that the calling thread ran and waited for.
void AddCpuSecondsOfProgram(double seconds);

}  // namespace allot
