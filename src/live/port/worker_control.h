#pragma once
// Moves the workers of every job towards the last decision. Takes the next actions from each job's
// WorkerGroup, writes them to the journal, then passes them to the runtime. Used by LiveCluster.

#include <functional>
#include <set>
#include <string>

#include "live/runtimes/runtime.h"
#include "live/state/live_counts.h"
#include "live/state/state_writer.h"

namespace allot {

// Calls the runtime. An exception counts as a refusal; if the runtime acted all the same, the next
// snapshot shows it.
Status AskRuntime(const std::function<Status()>& call);

class WorkerControl {
 public:
  WorkerControl(Runtime& runtime, StateWriter& writer, LiveCounts& counts);

  // Advances every job by one step. Waits for the disk at most once.
  void Advance();

  // Call after the first snapshot: the runtime may have lost an earlier daemon's announcements.
  void RepeatAnnouncements();

 private:
  void WriteDown(const LiveJob& job, const WorkerAction& action);
  void Execute(const LiveJob& job, const WorkerAction& action);
  void Start(const LiveJob& job, const WorkerAction& action);
  void Announce(const LiveJob& job);
  // Adopts `known`, the epoch that the workers report, if it is later than the journal's.
  bool TakeLaterEpoch(const LiveJob& job, std::int64_t known);

  Runtime& runtime_;
  StateWriter& writer_;
  LiveState& state_;
  LiveCounts& counts_;
  std::set<std::string> unannounced_;  // jobs whose latest epoch the runtime has not accepted
};

}  // namespace allot
