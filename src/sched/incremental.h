#pragma once
// The optional side of a policy, for speed: answers as changes, and promises on how long an answer
// stays valid. A policy that has it returns it from Policy::incremental(). Nothing here may change
// decisions: sched/promise_check.h compares it with full answers, and the conformance tests check
// it for every registered policy.

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/allocation_changes.h"
#include "sched/policy.h"

namespace allot {

class IncrementalPolicy {
 public:
  virtual ~IncrementalPolicy() = default;

  // The answer of Decide to the same observation, as changes. False: it cannot answer this
  // observation so; then nothing was decided, and the caller asks Decide. Clears `changes` first.
  virtual bool DecideChanges(const Observation& /*observation*/, AllocationChanges* /*changes*/) {
    return false;
  }

  // The promise that belongs to the last answer. As long as no job arrives or ends, no node
  // comes or goes and no table is renewed, the policy would give the same answer at any time before
  // the one returned, so it need not be asked. In absolute seconds. 0: no promise. kNever: until
  // something happens.
  //
  // `observation`: the one of the last answer; it may show that answer in force already.
  // `running`: by row, the configuration that runs under that answer, -1 for a job that waits.
  // Not called for policies that are not time-driven: their answers are valid until the next event.
  virtual Seconds HoldsUntil(const Observation& /*observation*/,
                             std::span<const std::int32_t> /*running*/) {
    return 0;
  }
};

// The time until which the last answer of any policy is valid, as IncrementalPolicy::HoldsUntil.
Seconds HoldsUntil(Policy& policy, const Observation& observation,
                   std::span<const std::int32_t> running);

// Computes `running` for an answer that is not in force yet.
class RunningUnder {
 public:
  // By row of the observation. Entries of unknown jobs are left out. Valid until the next call.
  // O(rows + entries).
  std::span<const std::int32_t> Of(const Observation& observation, const Allocation& answer);

 private:
  std::vector<std::int32_t> row_of_job_;  // of the last observations
  std::vector<std::int32_t> running_;
};

}  // namespace allot
