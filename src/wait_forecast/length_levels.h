#pragma once
// The quantile level of each job's length in each future.
//
// Levels of a job form a Latin hypercube (McKay, Beckman, Conover, Technometrics 21(2), 1979): each
// of n futures gets another n-th of the distribution, in a random order per job, so that few
// futures are enough. All jobs are correlated by a factor of the future, because times in which
// jobs run longer than before last for weeks, and those of one user, group and number of GPUs by a
// second factor (Gaussian copulas; Nelsen, An Introduction to Copulas, 2006).

#include <cstdint>
#include <vector>

#include "cluster/observation.h"

namespace allot {

// Both in [0, 1].
struct LengthCorrelations {
  double common = 0.05;  // of any two jobs; docs/forecast.md has how it was fitted
  double alike = 0.5;    // of what is left, for jobs of one known user, group and number of GPUs
};

// [row][future], each in (0, 1). O(rows x futures).
std::vector<double> LengthLevels(const Observation& observation, int futures,
                                 const LengthCorrelations& correlations, std::uint64_t seed);

}  // namespace allot
