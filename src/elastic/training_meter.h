#pragma once
// How far a job is, how fast it trains, and what its steps take, from what they show. ElasticWorker
// feeds it; the clock is the caller's, so that tests need none.

#include <vector>

#include "core/types.h"
#include "elastic/worker_batch.h"

namespace allot {

// Seconds of a step, by the medians of the last kWindow steps with one batch: pauses of one step (a
// checkpoint, a validation) do not count.
struct StepSeconds {
  Seconds gradient = 0;   // of one pass, mean over the workers
  Seconds iteration = 0;  // of a step without accumulation: its last pass, the synchronisation and
                          // the update
};

class TrainingMeter {
 public:
  void Joined(Seconds now);  // an epoch begins: rate and seconds are measured afresh
  // A step that was worth `work`, in the job's unit.
  void Step(Seconds now, double work);
  // What the step with this batch took: `pass` the mean of one pass, `step` all of it.
  void Took(const WorkerBatch& batch, Seconds pass, Seconds step);

  void SetWork(double work) { work_ = work; }
  double work() const { return work_; }  // done
  double rate() const { return rate_; }  // work a second in this epoch; kUnknown at first
  // Of `measured_batch()`; not known before kWindow steps with it.
  bool measured() const { return passes_.size() == kWindow; }
  const WorkerBatch& measured_batch() const { return batch_; }
  StepSeconds seconds() const;

  static constexpr std::size_t kWindow = 24;

 private:
  double work_ = 0;
  double rate_ = kUnknown;
  Seconds counted_from_ = kUnknown;
  double counted_ = 0;
  WorkerBatch batch_;
  std::vector<Seconds> passes_;  // of the last steps; a ring
  std::vector<Seconds> steps_;
  std::size_t next_ = 0;
};

}  // namespace allot
