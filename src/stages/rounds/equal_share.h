#pragma once
// What a job would do with an equal share of the cluster: the unit in which max-min fairness
// measures throughput (Narayanan et al., Gavel, OSDI'20, section 4.1).

#include "cluster/observation.h"

namespace allot {

// The rate, on the concave hull of the row's table, on a 1/jobs part of every GPU type: time on
// each type as Gavel's X_equal has it, a part smaller than the first configuration being a share of
// its time. > 0 for a job that can run on the cluster.
double EqualShareRate(const Observation& observation, std::int32_t row, std::int32_t jobs);

}  // namespace allot
