#include "workload/time_limits.h"

#include <algorithm>

namespace allot {
namespace {

// Slurm ends a job within about a minute after its limit (KillWait, and how often it looks).
constexpr Seconds kMostGrace = 60;
constexpr double kGraceOfShort = 0.05;  // of the limit

}  // namespace

TimeLimits CountTimeLimits(const Workload& workload) {
  TimeLimits counts;
  for (const Job& job : workload.jobs) {
    ++counts.jobs;
    const Seconds limit = job.user_estimate;
    if (limit <= 0) continue;
    ++counts.limited;
    if (workload.RecordedRunTime(job) > limit + std::min(kMostGrace, kGraceOfShort * limit))
      ++counts.outlived;
  }
  return counts;
}

}  // namespace allot
