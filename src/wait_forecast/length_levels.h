#pragma once
// The quantile level of each job's length in each future.
//
// Levels of a job form a Latin hypercube (McKay, Beckman, Conover, Technometrics 21(2), 1979): each
// of n futures gets another n-th of the distribution, in a random order per job, so that few
// futures are enough. Jobs of one user, group and number of GPUs are correlated by a common factor
// (a one-factor Gaussian copula; Nelsen, An Introduction to Copulas, 2006).

#include <cstdint>
#include <vector>

#include "cluster/observation.h"

namespace allot {

// [row][future], each in (0, 1). `alike` is that correlation, in [0, 1]. Jobs of unknown users are
// independent.
std::vector<double> LengthLevels(const Observation& observation, int futures, double alike,
                                 std::uint64_t seed);

}  // namespace allot
