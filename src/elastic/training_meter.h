#pragma once
// Measures the work that a job has done, its rate, and the seconds of its steps. ElasticWorker
// feeds it and passes the times, so that tests need no clock.

#include <vector>

#include "core/types.h"
#include "elastic/worker_batch.h"

namespace allot {

// Seconds of a step: medians of the last kWindow steps with one batch, so that a pause of one step
// (a checkpoint, a validation) does not count.
struct StepSeconds {
  Seconds gradient = 0;   // one pass, mean over the workers
  Seconds iteration = 0;  // a step without accumulation: its last pass, the synchronisation and the
                          // update
};

class TrainingMeter {
 public:
  void BeginEpoch(Seconds now);  // rate and seconds are measured afresh
  // Counts a step that was worth `work`, in the job's unit.
  void AddStep(Seconds now, double work);
  // Adds the seconds of a step with this batch: the mean of one pass, and the whole step.
  void AddTimes(const WorkerBatch& batch, Seconds pass, Seconds step);

  void SetWork(double work) { work_ = work; }
  double work() const { return work_; }  // done
  double rate() const { return rate_; }  // work a second in this epoch; kUnknown at first
  // True after kWindow steps with `measured_batch()`; `seconds()` is then defined.
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
  std::vector<Seconds> passes_;  // ring of the last steps
  std::vector<Seconds> steps_;
  std::size_t next_ = 0;
};

}  // namespace allot
