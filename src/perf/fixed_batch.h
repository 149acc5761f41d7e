#pragma once
// How a job trains with the batch that its user asked for, on GPUs where it was measured.

#include <algorithm>

#include "perf/application.h"
#include "perf/pipelines.h"

namespace allot {

// As SplitFixedBatch; where a pass of so many samples was not measured there, passes of at most as
// many as were (Sia's artifact limits them so). Pipelines have their own.
inline BatchChoice FixedBatchOn(const ApplicationOnType& type, const ProfiledTimes::Place& place,
                                double batch) {
  if (type.stages > 1) return PipelineBatch(type, place.gpus);
  const BatchChoice choice = SplitFixedBatch(type.limits, place.gpus, batch);
  if (choice.local_batch > 0 && StepTimeOn(type, place, choice.local_batch).known()) return choice;
  const std::int32_t most =
      place.rows != nullptr ? type.times.BatchesOf(place)[1] : type.times.LargestBatch(place);
  if (most <= 0) return choice;
  BatchLimits limits = type.limits;
  limits.most_local = std::min<double>(limits.most_local, most);
  return SplitFixedBatch(limits, place.gpus, batch);
}

}  // namespace allot
