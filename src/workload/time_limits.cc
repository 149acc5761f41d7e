#include "workload/time_limits.h"

#include <algorithm>

namespace allot {
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
