#pragma once
// The constraints on decisions in a simulated cluster: which jobs the operator's rules pin now,
// whose guarantees they count for, which nodes are near a maintenance window or avoided, and which
// ones a job leaves because it failed there. Part of RuledSimulation.

#include <map>
#include <optional>
#include <vector>

#include "rules/constraints.h"
#include "rules/maintenance_windows.h"
#include "sim/failed_starts.h"
#include "sim/scenario.h"

namespace allot {

// What the rules know of the time before a simulation that begins in mid-run.
struct RulesPast {
  struct KnownJob {
    Submitter submitter;
    JobRules rules{};
    std::optional<GpuCount> asks{};  // GPUs; unset: what it requested
  };
  // By job of the start; empty: as the scenario has them. Later jobs of these users count for the
  // account of their first one, where the scenario knows none.
  std::vector<KnownJob> jobs{};
  const GpuUsage* usage = nullptr;  // null: what the jobs of the start have had
};

class SimulatedRules : public ConstraintSource {
 public:
  // `starts`: of the cluster, which it outlives; null: no start fails.
  explicit SimulatedRules(const Scenario& scenario, const FailedStarts* starts = nullptr);
  // As SimulatedCluster of the same start. Copies what it needs.
  SimulatedRules(const Scenario& scenario, const Observation& start, const RulesPast& past);

  const Constraints& ConstraintsOn(const Observation& all) override;
  void OnCorrections(const Corrections& corrections) override;

 private:
  Submitter SubmitterOf(JobIndex job) const;
  void Use(JobIndex job, double attained, Seconds now);
  void AvoidNodes(const Observation& all);  // that are suspect, or failed a job

  const Scenario& scenario_;
  const FailedStarts* const starts_;
  std::vector<RulesPast::KnownJob> known_;         // the first jobs
  std::map<std::int32_t, std::int32_t> accounts_;  // of these, by user
  std::vector<ChangeHistory> histories_;           // by job
  std::vector<std::int32_t> changes_;              // by job: JobColumns::changes, as seen last
  std::optional<GpuUsage> usage_;                  // unset: no fair shares
  std::vector<double> attained_;                   // by job: GPU seconds in usage_
  MaintenanceWindows windows_;
  Constraints constraints_;
};

}  // namespace allot
