#pragma once
// The operator's rules that bind every policy, in a simulated cluster: which jobs may not be
// changed now, what policies see meanwhile (cluster/ruled_view.h), and what accounts are
// guaranteed. Owned by SimulatedCluster, where the scenario has such rules.

#include <optional>
#include <vector>

#include "cluster/change_history.h"
#include "cluster/guaranteed_shares.h"
#include "cluster/ruled_view.h"
#include "core/index.h"
#include "sim/scenario.h"

namespace allot {

class SimulatedRules {
 public:
  explicit SimulatedRules(const Scenario& scenario);

  // A job was given what it has.
  void Given(JobIndex job, Seconds now, bool first) { histories_[At(job)].Given(now, first); }

  // As the cluster is now, to policies. `tell`: once a decision.
  void Show(const Observation& all, bool tell);
  const Observation& shown() const { return view_.shown(); }
  // Whether shares can be guaranteed for this answer.
  Status Check(const Allocation& answer) const;
  // What a legal answer comes to, in the machines' own numbers.
  const Allocation& Meant(const Observation& all, const Allocation& answer);
  // When policies will see something else with time alone; kNever: never.
  Seconds next_change() const { return next_change_; }

 private:
  void FindLeads();
  void FindFixed(const Observation& all);
  void CloseNodes(const Observation& all);
  void FindOwners(const Observation& all);

  // Before a maintenance window of a node nothing more begins there.
  struct Lead {
    NodeIndex node;
    Seconds from;
    Seconds to;
  };

  const Scenario& scenario_;
  std::vector<ChangeHistory> histories_;  // by job
  RuledView view_;
  std::optional<GuaranteedShares> shares_;
  std::vector<std::int32_t> owner_;  // by row shown: index of a guarantee, -1: none
  std::vector<GpuCount> hidden_;     // by guarantee, what fixed jobs have of it
  Seconds next_change_ = kNever;
  bool put_right_ = false;  // the last answer
  Allocation meant_;
  std::vector<bool> fixed_;  // by row
  std::vector<Lead> leads_;
  std::vector<std::uint64_t> closed_;  // by node: GPUs that nobody holds, in a lead
};

}  // namespace allot
