#include "core/cpu_time.h"

#include <time.h>

#include "core/program_cpu.h"

namespace allot {
namespace {

thread_local double of_programs = 0;

}  // namespace

double ThreadCpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec) + of_programs;
}

void AddCpuSecondsOfProgram(double seconds) { of_programs += seconds; }

}  // namespace allot
