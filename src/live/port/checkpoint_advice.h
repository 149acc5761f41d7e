#pragma once
// Tells hot jobs how long to train between two checkpoints, by what one costs them, as their
// workers have measured it, by the number of their nodes and by how often these fail
// (perf/checkpoint_interval.h, rules/node_failure_rate.h). Programs follow unless their users said
// otherwise. Not in the journal: workers keep the advice, and the next checkpoint makes it anew.
// Part of LiveCluster, which calls it at every poll.

#include <map>
#include <string>

#include "live/runtimes/runtime.h"
#include "live/state/live_state.h"

namespace allot {

class CheckpointAdvice {
 public:
  CheckpointAdvice(Runtime& runtime, const LiveState& state) : runtime_(runtime), state_(state) {}

  // Sends the interval to jobs whose own has changed by a tenth. O(jobs).
  void Send();

  // Longer intervals would save less than a hundredth of the time, and lose more where a job dies
  // otherwise than with its node.
  static constexpr Seconds kLongest = 3600;
  static constexpr double kLongestInCosts = 100;

 private:
  Seconds IntervalFor(const LiveJob& job) const;

  Runtime& runtime_;
  const LiveState& state_;
  std::map<std::string, Seconds> sent_;  // by job
};

}  // namespace allot
