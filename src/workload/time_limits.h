#pragma once
// How many jobs of a workload have a time limit (Job::user_estimate), and how many outlived it. For
// 'allot trace inspect', and for commands whose policies go by limits where there are some.

#include <cstdint>

#include "workload/workload.h"

namespace allot {

struct TimeLimits {
  std::int64_t jobs = 0;
  std::int64_t limited = 0;   // of these, with a limit
  std::int64_t outlived = 0;  // of these, ran longer; by more than schedulers need to end a job
};

TimeLimits CountTimeLimits(const Workload& workload);

// How long after its limit a job still counts as one that kept it: schedulers look only now and
// then, and give jobs time to end.
inline constexpr Seconds kMostGrace = 60;
inline constexpr double kGraceOfShort = 0.05;  // of the limit

}  // namespace allot
