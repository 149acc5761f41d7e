#pragma once
// The remaining work that policies assume, with or without estimates.

#include "cluster/observation.h"

namespace allot {

// The length estimate of a job without a time limit, where time limits are the estimates. Slurm's
// backfill also takes a year. Longer limits count as a year. The length model treats it as no
// estimate.
inline constexpr Seconds kWithoutLimit = 365 * 86400.0;

// The estimate if there is one; otherwise as much as was done already (the median of a job whose
// length has a Pareto tail of index 1), and at least one interval at the reference rate.
double AssumedRemaining(const Observation& observation, std::int32_t row);

}  // namespace allot
