#pragma once
// Jobs whose batch follows their workers: what they measure becomes records, by which their tables
// are made (perf/training_estimate.h), and what they are to train with is told to them. LiveCluster
// is the only caller, at every poll.

#include <map>
#include <string>

#include "live/runtimes/runtime.h"
#include "live/state/state_writer.h"

namespace allot {

class BatchControl {
 public:
  BatchControl(Runtime& runtime, StateWriter& writer) : runtime_(runtime), writer_(writer) {}

  // What jobs have measured since the last call, into the state.
  void Read();
  // Tells jobs whose best batch has changed. The runtime passes it on when workers join.
  void Tell();
  // Jobs keep the batch that their users asked for: their initial one (Allocation).
  void KeepRequested(bool keep) { keep_ = keep; }

 private:
  // Of a job, so that one that reports ever new numbers costs no more than others.
  static constexpr std::size_t kMostSettings = 64;  // whose times are taken
  static constexpr Seconds kNoiseEvery = 1;

  void Read(const LiveJob& job);
  WorkerBatchOrder Wanted(const LiveJob& job) const;

  Runtime& runtime_;
  StateWriter& writer_;
  bool keep_ = false;
  std::map<std::string, WorkerBatchOrder> told_;
  std::map<std::string, Seconds> noise_at_;  // when it was taken last
};

}  // namespace allot
