#pragma once
// How long the jobs of a history ran, where some had not ended at its date. To count these as if
// they had ended then would make forecasts too short; to leave them out, shorter still.

#include <cstdint>
#include <vector>

#include "workload/workload.h"

namespace allot {

// By job of those submitted before `until`. One that had not ended then takes as long as some job
// of about its GPUs that took longer than it had lasted, drawn at random, longest first: a
// Kaplan-Meier estimate by imputation (redistribution to the right: Efron, Proc. 5th Berkeley
// Symposium IV, 1967). Where there is none, a tail of Pareto's law of index 2 follows.
// O(jobs log jobs).
std::vector<Seconds> PastLengths(const Workload& trace, Seconds until, std::uint64_t seed);

// The jobs submitted before `until`, with these lengths.
Workload KnownPast(const Workload& trace, Seconds until, std::uint64_t seed);

}  // namespace allot
