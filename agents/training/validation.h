#pragma once
// The greedy policy of some weights against its teacher on fixed workloads.

#include <memory>
#include <string>
#include <vector>

#include "agents/training/rollout.h"
#include "models/index_net.h"

namespace allot {

class Validation {
 public:
  // Runs the teacher once per scenario. Rewards as in `options`, cut where rollouts are.
  Validation(std::vector<std::shared_ptr<const Scenario>> scenarios, const std::string& teacher,
             RolloutOptions options, int threads);

  // Mean over the scenarios of own total / teacher's total. Deterministic.
  double Ratio(const IndexNetWeights& weights) const;

 private:
  std::vector<std::shared_ptr<const Scenario>> scenarios_;
  std::vector<double> teacher_;
  RolloutOptions options_;
  int threads_;
};

}  // namespace allot
