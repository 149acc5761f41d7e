#pragma once
// Which part of its distribution of lengths each job has in each future.
//
// By job a Latin hypercube (McKay, Beckman, Conover, Technometrics 21(2), 1979): of n futures each
// has another n-th, in an order of the job's own. So a few futures are enough. Jobs of one user
// with as many GPUs are long or short together: their levels have a common part (a Gaussian copula
// with one factor; Nelsen, An Introduction to Copulas, 2006).

#include <cstdint>
#include <vector>

#include "cluster/observation.h"

namespace allot {

// [row][future], each in (0, 1). `alike`: the correlation of jobs of one user, group and number of
// GPUs, in [0, 1]. Jobs of unknown users go each alone.
std::vector<double> LengthLevels(const Observation& observation, int futures, double alike,
                                 std::uint64_t seed);

}  // namespace allot
