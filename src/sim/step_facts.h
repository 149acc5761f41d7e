#pragma once
// What a step of a simulated cluster did: the raw material of rewards.

#include <cstdint>

#include "core/types.h"

namespace allot {

// Between the last two decisions.
struct StepFacts {
  Seconds elapsed = 0;
  double job_seconds = 0;       // integral of the number of unfinished jobs; sums to the total JCT
  double gpu_seconds = 0;       // allocated GPUs x time
  double progress = 0;          // sum over jobs of the share of their own work that was done
  double slowdown_seconds = 0;  // integral over unfinished jobs of 1 / (duration as requested)
  std::int32_t arrived = 0;
  std::int32_t finished = 0;
};

}  // namespace allot
