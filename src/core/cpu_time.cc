#include "core/cpu_time.h"

#include <time.h>

#include "core/cpu_elsewhere.h"

namespace allot {
namespace {

thread_local double elsewhere = 0;

}  // namespace

double ThreadCpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec) + elsewhere;
}

void AddCpuSecondsElsewhere(double seconds) { elsewhere += seconds; }

}  // namespace allot
