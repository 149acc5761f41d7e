#pragma once
// Checks the optional side of a policy (sched/incremental.h) while it runs: its answers as changes
// and its promises are compared with full answers. Drive uses it: with DriveOptions::twin, and, for
// changes alone, in builds without NDEBUG.

#include <string>
#include <vector>

#include "cluster/allocation_changes.h"
#include "cluster/cluster_port.h"
#include "sched/policy.h"

namespace allot {

// The first job, by number, that two answers treat differently, and what each gives it:
// "job 3: nothing, but configuration 1 on node 0 (GPUs 0x3)". Empty when the answers are the same;
// the order of their entries does not matter. O(entries log entries).
std::string DifferenceOf(const Allocation& first, const Allocation& second);

class PromiseCheck {
 public:
  // `twin`: another object of the same policy; it is asked in full, at every interval. All outlive
  // the check.
  PromiseCheck(ClusterPort& cluster, const Policy& policy, Policy& twin)
      : cluster_(cluster), policy_(policy), twin_(twin) {}

  void OnEpisodeStart(const EpisodeContext& context) { twin_.OnEpisodeStart(context); }

  // `answer`: in full, what the policy decided for `observation`, which does not show it yet.
  // RunError unless the twin gives the same answer.
  void Answer(const Observation& observation, const Allocation& answer);

  // As ClusterPort::WaitForChange, but stops at every interval on the way. There the twin is asked;
  // RunError unless its answer is the one that runs (the driver names the policy). A policy that is
  // not time-driven promises nothing: it is left alone until something happens, and may then change
  // its mind even where its own answer was all that happened (drf on GPUs of two types does).
  bool WaitForChange(Seconds holds_until);

 private:
  ClusterPort& cluster_;
  const Policy& policy_;
  Policy& twin_;
  Allocation twin_answer_;
};

// RunError unless `changes` and `in_full`, both of `policy`, are the same answer.
void RequireSameAnswer(const Policy& policy, const Observation& observation,
                       const AllocationChanges& changes, const Allocation& in_full);

}  // namespace allot
