#pragma once
// The remaining work that policies assume, with or without estimates.

#include "cluster/observation.h"

namespace allot {

// The estimate where there is one; else "as much again as was done" (the median of a job whose
// length has a Pareto tail of index 1), and at least one interval at the reference rate.
double ReckonedRemaining(const Observation& observation, std::int32_t row);

}  // namespace allot
