#pragma once
// What a job that trains an application learns of itself while it runs, and how it chooses its
// batch by that: the side of a Belief (sim/belief.h) that stepped training asks
// (TrainingRules::stepped). A belief without it knows the true iteration times.

#include <cstdint>
#include <string_view>

#include "core/types.h"
#include "perf/goodput_model.h"

namespace allot {

// Where a job runs, as far as models of seven parameters know it.
struct TrainingPlace {
  std::string_view gpu_type;
  std::int32_t nodes = 0;
  GpuCount gpus = 0;
};

// What a job measures as it trains with one batch: exact, without noise.
struct TrainingMeasurement {
  TrainingPlace place;
  BatchChoice batch;              // rate: progress per second, all slowdowns included
  Seconds gradient = 0;           // of a pass over one GPU's batch
  Seconds step = 0;               // of an iteration of one pass
  GradientStatistics statistics;  // at its batch, in its epoch
  std::int32_t epoch = 0;         // from 0
  Seconds seconds = 0;            // that it trained with it since it was measured before
};

class TrainingBelief {
 public:
  virtual ~TrainingBelief() = default;
  // Comes before the job has a new batch: at the end of each epoch and of each interval. True where
  // the job's table was renewed.
  virtual bool Measure(JobIndex job, const TrainingMeasurement& measured) = 0;
  // The batch of a job that may choose it, when it starts there, at the end of each epoch and of
  // each interval. Also of jobs that measured nothing yet.
  virtual BatchChoice Choose(JobIndex job, const TrainingPlace& place) = 0;
};

}  // namespace allot
