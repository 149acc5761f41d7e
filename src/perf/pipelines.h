#pragma once
// Programs whose model is cut into stages, each on a GPU of its own (Huang et al., "GPipe",
// NeurIPS'19; in Sia's simulator, SOSP'23, the application gpt_pmp). One copy of the model, a
// *replica*, takes `stages` GPUs; several train in parallel as other programs do. An iteration of a
// replica is `max_local_bsz` samples, in micro-batches of `min_local_bsz`. With m micro-batches,
// the seconds f that a stage takes for the forward pass of one, and a backward pass of twice that:
//
//   iteration = 3 (stages - 1 + m) f + synchronisation of the replicas
//
// `step_time` of a measured placement is f, `sync_time` the synchronisation. There is no choice of
// batch: it is that of the replicas. Of other programs (one stage) these functions say what
// ProfiledTimes says.

#include <cstdint>

#include "perf/application.h"

namespace allot {

inline GpuCount ReplicasOn(const ApplicationOnType& type, GpuCount gpus) {
  return gpus / type.stages;
}

// Of an iteration with so many samples on each replica.
inline StepTime StepTimeOn(const ApplicationOnType& type, const ProfiledTimes::Place& place,
                           std::int64_t local_batch) {
  if (type.stages == 1) {
    return type.times.TimeAt(place, static_cast<std::int32_t>(local_batch));
  }
  const double micro = type.limits.least_local;
  const StepTime stage = type.times.TimeAt(place, static_cast<std::int32_t>(micro));
  if (!stage.known()) return {};
  const double passes = type.stages - 1 + static_cast<double>(local_batch) / micro;
  return {3 * passes * stage.step + stage.synchronisation, stage.synchronisation};
}

// The one batch of a program of several stages: of each replica. local_batch 0: the GPUs are no
// whole replicas, or more samples together than the program takes.
inline BatchChoice PipelineBatch(const ApplicationOnType& type, GpuCount gpus) {
  const GpuCount replicas = ReplicasOn(type, gpus);
  BatchChoice choice;
  if (replicas == 0 || gpus % type.stages != 0) return choice;
  if (replicas * type.limits.most_local > type.limits.most) return choice;
  choice.local_batch = static_cast<std::int64_t>(type.limits.most_local);
  return choice;
}

}  // namespace allot
