#pragma once
// The constraints on decisions in a simulated cluster: which jobs the operator's rules pin now,
// whose guarantees they count for, and which nodes are near a maintenance window. Part of
// RuledSimulation.

#include <optional>
#include <vector>

#include "rules/constraints.h"
#include "rules/maintenance_windows.h"
#include "sim/scenario.h"

namespace allot {

class SimulatedRules : public ConstraintSource {
 public:
  explicit SimulatedRules(const Scenario& scenario);

  const Constraints& ConstraintsOn(const Observation& all) override;
  void OnCorrections(const Corrections& corrections) override;

 private:
  void Use(JobIndex job, double attained, Seconds now);

  const Scenario& scenario_;
  std::vector<ChangeHistory> histories_;  // by job
  std::vector<std::int32_t> changes_;     // by job: JobColumns::changes, as seen last
  std::optional<GpuUsage> usage_;         // unset: no fair shares
  std::vector<double> attained_;          // by job: GPU seconds in usage_
  MaintenanceWindows windows_;
  Constraints constraints_;
};

}  // namespace allot
