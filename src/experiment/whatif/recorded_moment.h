#pragma once
// The cluster at one moment as the record of a trace has it: what runs and since when, what waits,
// and what has ended before. Forecasts of now begin with it ('allot forecast'), where the simulated
// past of a policy would be another world than the one that was exported.

#include <cstdint>

#include "cluster/observation.h"
#include "sim/scenario.h"

namespace allot {

struct RecordedMoment {
  // Its events have all jobs that ended before. It points into the scenario.
  Observation observation;
  // Jobs that run by the record, but for which the cluster has no GPUs: nodes that were drained
  // since. They and their GPUs are left out.
  std::int64_t without_room = 0;
  GpuCount gpus_without_room = 0;
};

// `at` in the scenario's time, at most its workload's recorded_until. The record does not tell on
// which nodes jobs run: the largest are packed first. O(jobs log jobs).
RecordedMoment MomentOfRecord(const Scenario& scenario, Seconds at);

}  // namespace allot
