#pragma once
// The greedy policy of some weights against a reference on fixed workloads.

#include <memory>
#include <vector>

#include "agents/learned/agent.h"
#include "agents/training/objective.h"
#include "agents/training/trainer.h"

namespace allot {

class Validation {
 public:
  // Runs the reference once per scenario. Episodes are cut after `max_decisions`. All of the team
  // call everything together.
  Validation(std::vector<std::shared_ptr<const Scenario>> scenarios, const PolicyMaker& reference,
             Objective objective, std::int64_t max_decisions, int threads,
             std::shared_ptr<Team> team = TeamOfOne());

  // Mean over the scenarios of own value / the reference's. Deterministic.
  double Ratio(const Agent& agent) const;

 private:
  std::vector<std::shared_ptr<const Scenario>> scenarios_;
  Objective objective_;
  std::int64_t max_decisions_;
  int threads_;
  std::shared_ptr<Team> team_;
  std::vector<std::vector<double>> reference_;  // one value each
};

}  // namespace allot
