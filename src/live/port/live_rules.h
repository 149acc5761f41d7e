#pragma once
// The rules of a legal allocation on real machines: those of every cluster (cluster/validate.h),
// and that a GPU has one worker. Live, nobody can promise what two jobs on one GPU leave to each
// other.

#include "cluster/validate.h"

namespace allot {

inline Status ValidateLiveAllocation(const Observation& observation, const Allocation& allocation) {
  if (allocation.has_partners()) {
    for (const Allocation::Entry& entry : allocation.entries()) {
      if (entry.partner == kAlone) continue;
      return Status::Refused(
          "on a live cluster a job must be alone on its GPUs, job {} shares them with job {}",
          entry.job, entry.partner);
    }
  }
  return ValidateAllocation(observation, allocation);
}

}  // namespace allot
