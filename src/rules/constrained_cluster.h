#pragma once
// A cluster whose decisions are constrained: by rules of its operator (rules/operator_rules.h) and
// by what only the cluster knows of jobs and nodes. Policies, listeners and shadows stand in front
// of it, so that no policy needs to know a rule and none can break one. The simulator
// (sim/ruled_simulation.h) and the daemon (live/daemon/daemon.h) both put their cluster behind one.
//
// What policies see, in this order:
//   1  Sizes. Tables of configurations hold no other sizes (perf/size_rule.h), and on live
//      clusters none beyond a limit (live/port/limited_sizes.h). The cluster inside makes the
//      tables.
//   2  Nodes that are down, drained or in maintenance have no GPUs. The cluster inside says so.
//   3  Jobs are hidden that no decision may change: pinned ones, with their GPUs, CPUs and memory,
//      and waiting ones that may not start (held, no room in a limit, back-off). Jobs that share
//      GPUs with a hidden one are hidden, too.
//   4  GPUs are withheld that others have, and free ones of nodes that are closed or avoided.
//   5  The GPUs that are left on each node are numbered from 0.
//
// What may change a policy's answer, in this order:
//   1  Validate refuses an answer that is not legal for what the policy saw. Nothing is applied.
//   2  Guarantees, then fair shares: jobs of accounts below their guarantee and of users below
//      their fair share get GPUs (rules/entitlements.h).
//   3  GPUs get the machines' numbers again, and hidden jobs that run keep theirs.
//   4  Node requirements: jobs are moved to nodes that may run them, or wait
//      (rules/node_requirements.h).
// The cluster inside then applies the answer as it is.
//
// When a job becomes hidden, policies see it disappear without an end event; when it is shown
// again, they see an arrival. The end of a job that was ever shown is reported like any other. An
// answer that was corrected for guarantees or fair shares is asked for again at the next scheduled
// instant, whatever the policy promised; one that was not, while jobs could use more than there is,
// after FairShares::kReview.
//
// Costs a copy of the observation for each Apply and WaitForChange. Not thread-safe.

#include <vector>

#include "cluster/cluster_port.h"
#include "cluster/validate.h"
#include "rules/constrained_view.h"
#include "rules/constraints.h"
#include "rules/entitlements.h"
#include "rules/fair_shares.h"

namespace allot {

class ConstrainedCluster : public ClusterPort {
 public:
  using Validator = Status (*)(const Observation&, const Allocation&);

  // Both outlive it. `validator`: the rules of legal allocations on this cluster.
  ConstrainedCluster(ClusterPort& inside, ConstraintSource& source,
                     std::vector<Guarantee> guarantees, Validator validator = ValidateAllocation);

  // From the next decision on, instead of those so far. `guarantees`: those whose indices the
  // source names from now on.
  void SetGuarantees(std::vector<Guarantee> guarantees);

  const Observation& Observe() const override { return view_.shown(); }
  // Refuses also jobs that share GPUs where accounts have guarantees: these count whole GPUs. Fair
  // shares do, too, and do not apply to an answer with such jobs.
  Status Validate(const Allocation& answer) const override;
  ApplyReport Apply(const Allocation& answer) override;
  ApplyReport ApplyValidated(const Allocation& answer) override;
  bool WaitForChange(Seconds valid_until) override;

 private:
  void Show(bool next_decision);
  void FindGuarantees();
  const Allocation& Correct(const Allocation& answer);

  ClusterPort& inside_;
  ConstraintSource& source_;
  const Validator validator_;
  ConstrainedView view_;
  Entitlements entitlements_;
  FairShares fair_shares_;
  bool contended_ = false;  // jobs could use more than there is
  const Constraints* constraints_ = nullptr;
  Corrections corrections_;              // of the last answer
  std::vector<std::int32_t> guarantee_;  // by row shown: of its account; -1: none
  std::vector<GpuCount> hidden_gpus_;    // by guarantee: what hidden jobs have of it
  Allocation full_;                      // the last answer, in the machines' numbers
  std::int64_t applied_decision_ = -1;
};

}  // namespace allot
