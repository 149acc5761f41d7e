#pragma once
// The seam to any cluster, simulated or real. The driver (sched/driver.h) is its only caller.

#include <cstdint>
#include <string>

#include "cluster/allocation.h"
#include "cluster/observation.h"
#include "core/error.h"

namespace allot {

// What an application of an allocation did.
struct ApplyReport {
  std::int32_t launched = 0;      // was waiting, runs now
  std::int32_t preempted = 0;     // ran, waits now
  std::int32_t resized = 0;       // runs in another configuration
  std::int32_t moved = 0;         // runs in the same configuration on other GPUs
  Status refused = Status::Ok();  // the broken rule; nothing was changed
};

class ClusterPort {
 public:
  virtual ~ClusterPort() = default;

  // A consistent snapshot with monotone `now`. The reference stays valid, and unchanged, until the
  // next Apply or WaitForChange; copy it to keep it.
  virtual const Observation& Observe() const = 0;

  // Pure.
  virtual Status Validate(const Allocation& allocation) const = 0;

  // Whether Apply takes an allocation that is given as changes.
  virtual bool TakesChanges() const { return false; }

  // Validates, then makes it so, or refuses and changes nothing. Applying the same decision number
  // again changes nothing.
  virtual ApplyReport Apply(const Allocation& allocation) = 0;

  // The same, of an allocation that Validate has accepted since the last change: a cluster need not
  // check it again.
  virtual ApplyReport ApplyValidated(const Allocation& allocation) { return Apply(allocation); }

  // False where what is known to happen first makes the next wait as long as it is, whatever
  // `holds_until` says.
  virtual bool AsksHowLong() const { return true; }

  // Lets time pass until the next decision is due; false when nothing more will ever happen.
  // One is due when a job has arrived or ended, or at the first scheduled instant at or after
  // `holds_until`.
  virtual bool WaitForChange(Seconds holds_until) = 0;
};

}  // namespace allot
