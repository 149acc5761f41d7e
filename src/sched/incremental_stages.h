#pragma once
// The optional sides of stages, for speed. They let a policy of stages answer as changes and
// promise how long an answer is valid (sched/incremental.h), and never change decisions.

#include <cstdint>
#include <span>

#include "cluster/allocation_changes.h"
#include "sched/stages.h"

namespace allot {

// How the keys of an ordering change while no job arrives or ends.
class IncrementalOrdering {
 public:
  virtual ~IncrementalOrdering() = default;

  // True: a job's key depends on its own row alone, and changes only while the job runs. Then only
  // the keys of jobs that are new, have run, started or stopped are asked for again.
  virtual bool by_own_service() const { return true; }

  // True: it does not change while the job runs either, but only with what a job is (its
  // submission, its priority). Then not even the keys of jobs that have run are asked for again.
  virtual bool keys_stay() const { return false; }

  // The key of a job that runs rises by at most `rate` a second until `until` (absolute, seconds).
  // After that nothing is said.
  struct Drift {
    double rate = 0;
    Seconds until = kNever;
  };
  // For a row that runs in `configuration` from now on. Asked of time-driven orderings only. O(1).
  virtual Drift DriftOf(const Observation& observation, std::int32_t /*row*/,
                        std::int32_t /*configuration*/) const {
    return {0, observation.now};
  }

  // The first time at which the key of one of these rows may change, all of which wait from now on;
  // kNever: they do not change while they wait. Asked of time-driven orderings only. O(rows).
  virtual Seconds WaitMoves(const Observation& /*observation*/,
                            std::span<const std::int32_t> /*rows*/) const {
    return kNever;
  }
};

class IncrementalPlacement {
 public:
  virtual ~IncrementalPlacement() = default;

  // The answer of Place, as changes; clears them first. Called only where Observation::free is
  // there.
  virtual void PlaceChanges(const Observation& observation, std::span<const Grant> grants,
                            AllocationChanges* changes) = 0;
};

}  // namespace allot
