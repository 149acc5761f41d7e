#pragma once
// An answer as the difference to what runs. It says the same as an Allocation, and costs less where
// most jobs go on as they are.

#include <vector>

#include "cluster/allocation.h"
#include "cluster/observation.h"
#include "core/error.h"

namespace allot {

// A job that runs, and is in neither list, goes on as it is. A job that waits, and is not in
// `given`, goes on waiting.
struct AllocationChanges {
  Allocation given;               // who starts, moves, or gets another configuration
  std::vector<JobIndex> stopped;  // who runs now and shall wait; in no order

  void Clear() {
    given.Clear();
    stopped.clear();
  }
};

// The same answer as an Allocation: first who goes on, by row, then `given`.
// O((rows + changes) log changes).
Allocation InFull(const Observation& observation, const AllocationChanges& changes);

// The rules of ValidateAllocation for the answer in full. Also: only jobs that run are stopped, and
// no job is named twice. O((rows + shares) log rows).
Status ValidateChanges(const Observation& observation, const AllocationChanges& changes);

}  // namespace allot
