#pragma once
// Blames nodes that fail jobs: reports to the state which starts succeeded, and does with nodes
// that are suspect (rules/node_suspicion.h) what the operator's rule says: they are named, avoided
// until their time is over, or drained. Each is logged with the jobs that accuse it, and kept by
// the journal. Part of LiveCluster, which calls it after each snapshot and before it takes GPUs
// back.

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "live/state/live_counts.h"
#include "live/state/state_writer.h"

namespace allot {

class NodeBlame {
 public:
  NodeBlame(StateWriter& writer, LiveCounts& counts) : writer_(writer), counts_(counts) {}

  // True when a decision is due: a node is avoided from now on, or no longer. O(jobs).
  bool Update(const FailureRule& rule);

 private:
  // The latest start of a job's workers.
  struct Start {
    std::int64_t next_number = -1;  // of the job's workers: another start has another one
    int failures = 0;               // of the job, before
    Seconds trains_since = kNever;
    std::int64_t step = 0;  // when it began to train
    bool decided = false;   // it succeeded or failed
  };
  void RecordSuccesses();
  bool ActOnSuspects(const FailureRule& rule);
  bool ReadmitNodes();

  StateWriter& writer_;
  LiveCounts& counts_;
  std::map<JobIndex, Start> starts_;  // of jobs that have workers
  std::set<std::string> named_;       // suspect nodes, where the rule is to tell
};

}  // namespace allot
