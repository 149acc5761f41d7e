#pragma once
// The one loop: observe -> decide -> validate -> apply -> wait. simulate, compare, evaluate, the
// environment (in its step-wise form) and the live daemon all run it.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cluster/cluster_port.h"
#include "sched/policy.h"

namespace allot {

// Sees every decision, append-only; a policy never reads it back.
class DecisionListener {
 public:
  virtual ~DecisionListener() = default;
  virtual void OnDecision(const Observation& observation, const Allocation& allocation) = 0;
};

struct DriveResult {
  std::int64_t decisions = 0;
  std::vector<float> decision_us;  // wall time of each Decide, microseconds
};

struct DriveOptions {
  std::int64_t max_decisions = -1;  // -1: until the cluster has nothing left to do
  bool time_decisions = true;
  bool valid_answers = false;      // the policy validates them itself: they are not validated again
  std::function<bool()> enough{};  // asked before every decision after the first; true ends the run
};

// Runs until the cluster is done. Throws RunError naming policy, decision and rule when an
// allocation fails validation, and Interrupted on Ctrl-C.
DriveResult Drive(ClusterPort& cluster, Policy& policy, const EpisodeContext& context,
                  std::span<DecisionListener* const> listeners = {},
                  const DriveOptions& options = {});

}  // namespace allot
