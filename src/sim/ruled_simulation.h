#pragma once
// A simulated cluster as policies meet it: behind the operator's rules where the scenario has rules
// that bind policies (rules/constrained_cluster.h), or nodes fail starts, else as it is, at no
// cost. Whoever lets a policy decide in a scenario that may have rules uses it; a bare
// SimulatedCluster keeps no rules but sizes and maintenance in force.

#include <optional>
#include <vector>

#include "rules/constrained_cluster.h"
#include "sim/simulated_cluster.h"
#include "sim/simulated_rules.h"

namespace allot {

class RuledSimulation {
 public:
  // `scenario` outlives it.
  explicit RuledSimulation(const Scenario& scenario) : cluster_(scenario) {
    if (!scenario.has_binding_rules()) return;
    rules_.emplace(scenario, cluster_.failed_starts());
    constrained_.emplace(cluster_, *rules_, GuaranteesIn(scenario));
  }

  // In mid-run, as SimulatedCluster. `past`: what the rules know of the time before.
  RuledSimulation(const Scenario& scenario, const Observation& start, const RulesPast& past)
      : cluster_(scenario, start) {
    if (!scenario.has_binding_rules()) return;
    rules_.emplace(scenario, start, past);
    constrained_.emplace(cluster_, *rules_, GuaranteesIn(scenario));
  }

  // What policies see and decide on.
  ClusterPort& port() { return constrained_ ? static_cast<ClusterPort&>(*constrained_) : cluster_; }
  // The cluster itself, with what rules hide.
  SimulatedCluster& cluster() { return cluster_; }
  const SimulatedCluster& cluster() const { return cluster_; }

 private:
  static std::vector<Guarantee> GuaranteesIn(const Scenario& scenario) {
    const OperatorRules* const rules = scenario.options().rules.get();
    return rules == nullptr ? std::vector<Guarantee>() : rules->guarantees();
  }

  SimulatedCluster cluster_;
  std::optional<SimulatedRules> rules_;
  std::optional<ConstrainedCluster> constrained_;
};

}  // namespace allot
