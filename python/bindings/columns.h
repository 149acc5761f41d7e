#pragma once
// What became of jobs and cluster as dicts of numpy arrays, for pandas.

#include <nanobind/nanobind.h>

#include "bindings/experiment_data.h"

namespace allot {

// One element a job, in order of submission; times that there were not are NaN. UsageError for a
// policy or a workload that there is not.
nanobind::dict JobColumnsOf(const ExperimentData& data, std::size_t policy, std::size_t workload);
// One element a point of time, from which on the state held.
nanobind::dict TimelineColumnsOf(const ExperimentData& data, std::size_t policy,
                                 std::size_t workload);

}  // namespace allot
