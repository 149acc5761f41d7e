#pragma once
// Which starts of jobs fail in a scenario whose fault law has nodes that stay up and fail them. It
// follows from the law and the workload alone, so that it is the same for all policies. Made by
// Scenario; used by FailedStarts.

#include <cstdint>
#include <vector>

#include "sim/fault_law.h"
#include "workload/workload.h"

namespace allot {

// Immutable; thread-safe.
class StartPlan {
 public:
  // `law` has starts(). Nodes turn bad until `horizon`.
  StartPlan(const FaultLaw& law, const Workload& workload, std::size_t nodes, Seconds horizon,
            std::uint64_t seed);

  // When the node is bad: ascending and disjoint.
  const std::vector<Outage>& BadTimesOf(NodeIndex node) const;
  // The job fails at every start.
  bool IsBroken(JobIndex job) const { return broken_[static_cast<std::size_t>(job)]; }
  // How long a bad node waits for its repair, on average.
  Seconds repair() const { return faults_.repair; }

  // The `number`-th start of a job, with so many bad nodes: the seconds after which it fails;
  // kNever: it does not. The same whatever else happens.
  Seconds FailsAfter(JobIndex job, std::int32_t number, std::size_t bad_nodes) const;

 private:
  void FindBrokenJobs(const Workload& workload);

  StartFaults faults_;
  std::uint64_t seed_;
  std::vector<std::vector<Outage>> bad_;  // by node
  std::vector<bool> broken_;              // by job
};

}  // namespace allot
