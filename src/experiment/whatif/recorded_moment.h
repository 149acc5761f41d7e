#pragma once
// The cluster at one moment by the record of a trace: running jobs with their starts, waiting jobs,
// and ended ones. 'allot forecast' begins with it, because a simulated past would differ from what
// happened on the exported cluster.

#include <cstdint>

#include "cluster/observation.h"
#include "sim/scenario.h"

namespace allot {

struct RecordedMoment {
  // Its events contain all jobs that ended before. It points into the scenario.
  Observation observation;
  // Running jobs of the record for which the cluster has no GPUs, because nodes were drained since.
  // They and their GPUs are left out.
  std::int64_t without_room = 0;
  GpuCount gpus_without_room = 0;
};

// `at` is in the scenario's time, at most its workload's recorded_until. The record has no nodes,
// so jobs are packed, the largest first. O(jobs log jobs).
RecordedMoment MomentOfRecord(const Scenario& scenario, Seconds at);

}  // namespace allot
