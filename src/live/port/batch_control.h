#pragma once
// Controls jobs whose batch follows their workers. Records their measurements, from which their
// tables are made (perf/training_estimate.h), and sends them the batch to train with. LiveCluster
// calls it at every poll.

#include <map>
#include <string>

#include "live/runtimes/runtime.h"
#include "live/state/state_writer.h"

namespace allot {

class BatchControl {
 public:
  BatchControl(Runtime& runtime, StateWriter& writer) : runtime_(runtime), writer_(writer) {}

  // Records the measurements since the last call.
  void RecordMeasurements();
  // Sends the batch to jobs whose best one has changed. The runtime repeats it to new workers.
  void SendBatches();
  // With `keep` jobs keep their initial batch, which their users requested (Allocation).
  void KeepRequested(bool keep) { keep_ = keep; }

 private:
  // Limits for each job, so that one that reports ever new numbers costs no more than others.
  static constexpr std::size_t kMostSettings = 64;  // recorded times
  static constexpr Seconds kNoiseEvery = 1;

  void RecordMeasurements(const LiveJob& job);
  WorkerBatchOrder BestBatch(const LiveJob& job) const;

  Runtime& runtime_;
  StateWriter& writer_;
  bool keep_ = false;
  std::map<std::string, WorkerBatchOrder> sent_;
  std::map<std::string, Seconds> noise_at_;  // when it was last recorded
};

}  // namespace allot
