#pragma once
// The seam to a cluster, simulated or real. The driver (sched/driver.h) is its only caller. It
// calls Observe, then Apply, then WaitForChange, again and again.

#include <cstdint>

#include "cluster/allocation.h"
#include "cluster/observation.h"
#include "core/error.h"

namespace allot {

class IncrementalCluster;  // cluster/incremental_cluster.h

// What an Apply did.
struct ApplyReport {
  std::int32_t launched = 0;      // jobs that waited and now run
  std::int32_t preempted = 0;     // jobs that ran and now wait
  std::int32_t resized = 0;       // jobs that now run in another configuration
  std::int32_t moved = 0;         // jobs that run in the same configuration on other GPUs
  Status refused = Status::Ok();  // the rule that the allocation broke; then nothing was changed
};

class ClusterPort {
 public:
  virtual ~ClusterPort() = default;

  // The state of the cluster and of all unfinished jobs. `now` never falls. The reference stays
  // valid until the cluster is destroyed. What it shows changes in Apply and WaitForChange only;
  // copy it to keep it.
  virtual const Observation& Observe() const = 0;

  // Checks an allocation (the rules are in cluster/validate.h). Changes nothing.
  virtual Status Validate(const Allocation& allocation) const = 0;

  // Validates the allocation and puts it into force. If a rule is broken, it changes nothing and
  // reports the rule. A second call for the same decision number changes nothing.
  virtual ApplyReport Apply(const Allocation& allocation) = 0;

  // The same for an allocation that Validate has accepted since the last change. A cluster need not
  // check it again.
  virtual ApplyReport ApplyValidated(const Allocation& allocation) { return Apply(allocation); }

  // Waits until the next decision is due. Returns false when nothing more will ever happen.
  //
  // A decision is due after an event: a job arrives or ends, a node comes or goes. It is due at
  // once or at the next scheduled instant (a multiple of the interval), as the cluster is
  // configured. Without an event it is due at the first scheduled instant that is after now and not
  // before `holds_until` (absolute, in seconds). 0: ask at every interval. kNever: ask after events
  // only.
  virtual bool WaitForChange(Seconds holds_until) = 0;

  // The optional side for answers as changes. Null: the cluster takes full answers only.
  virtual IncrementalCluster* incremental() { return nullptr; }
};

}  // namespace allot
