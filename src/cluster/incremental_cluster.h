#pragma once
// The optional side of a ClusterPort: for clusters that take answers as changes
// (cluster/allocation_changes.h). A decision then costs what it changes, not what runs.
// See sched/incremental.h for the side of the policies.

#include "cluster/allocation_changes.h"
#include "cluster/cluster_port.h"

namespace allot {

class IncrementalCluster {
 public:
  virtual ~IncrementalCluster() = default;

  // As ClusterPort::Apply. Afterwards Observe() shows the answer in force: rows, times and progress
  // are as before, `running` and the shares are those of the answer.
  virtual ApplyReport ApplyChanges(const AllocationChanges& changes) = 0;

  // Whether a promise makes a difference: false where the next decision is due at the next
  // scheduled instant anyway. Asked after Apply or ApplyChanges. O(1).
  virtual bool PromiseMatters() const = 0;
};

}  // namespace allot
