#pragma once
// The one loop: observe, decide, validate, apply, wait. All commands, the environment (in steps)
// and the live daemon run it.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cluster/cluster_port.h"
#include "sched/policy.h"

namespace allot {

// Sees every decision before it is applied. A policy never reads what a listener writes.
class DecisionListener {
 public:
  virtual ~DecisionListener() = default;
  // `allocation` is in full and obeys the rules. Both arguments are valid during the call only.
  virtual void OnDecision(const Observation& observation, const Allocation& allocation) = 0;
};

struct DriveResult {
  std::int64_t decisions = 0;
  std::vector<float> decision_us;  // of each decision: its wall time, microseconds
};

struct DriveOptions {
  std::int64_t max_decisions = -1;  // -1: until the cluster has nothing left to do
  bool time_decisions = true;       // false: decision_us stays empty
  // The policy validates its answers itself: they are not validated again.
  bool valid_answers = false;
  // Asked before every decision but the first. True ends the run.
  std::function<bool()> enough{};
  // Another object of the same policy, which checks what the policy promises
  // (sched/promise_check.h). The run then stops at every interval: decision numbers, and the last
  // digits of times, may differ from those of a run without it. Null: no check.
  Policy* twin = nullptr;
};

// Runs the policy until the cluster is done. Answers are taken as changes where the cluster and the
// policy know them and there is no listener.
//
// RunError when an allocation breaks a rule: it names the policy, the decision and the rule.
// RunError when a check of promises fails. Interrupted on Ctrl-C. Errors of the policy pass
// through.
//
// A decision costs what the policy and Apply cost; a promise of a full answer costs O(rows) more.
DriveResult Drive(ClusterPort& cluster, Policy& policy, const EpisodeContext& context,
                  std::span<DecisionListener* const> listeners = {},
                  const DriveOptions& options = {});

}  // namespace allot
