#pragma once
// From the state to the runtime: moves the workers of every job towards what the last decision gave
// it. Each job's worker group (live/workers/worker_group.h) says what is next; it is written down,
// then the runtime is told. LiveCluster is the only caller.

#include <functional>
#include <set>
#include <string>

#include "live/runtimes/runtime.h"
#include "live/state/live_counts.h"
#include "live/state/state_writer.h"

namespace allot {

// A runtime that cannot be reached has refused. What it did all the same the next snapshot shows.
Status AskRuntime(const std::function<Status()>& call);

class WorkerControl {
 public:
  WorkerControl(Runtime& runtime, StateWriter& writer, LiveCounts& counts);

  // One step of every job. At most one wait for the disk.
  void Advance();

  // After the first snapshot: the runtime may have lost what an earlier daemon told it.
  void RepeatAnnouncements();

 private:
  void WriteDown(const LiveJob& job, const WorkerAction& action);
  void Execute(const LiveJob& job, const WorkerAction& action);
  void Start(const LiveJob& job, const WorkerAction& action);
  void Announce(const LiveJob& job);
  bool TakeLaterEpoch(const LiveJob& job, std::int64_t known);  // by its workers

  Runtime& runtime_;
  StateWriter& writer_;
  LiveState& state_;
  LiveCounts& counts_;
  std::set<std::string> unannounced_;  // jobs whose latest epoch the runtime has not taken
};

}  // namespace allot
