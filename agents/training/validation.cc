#include "agents/training/validation.h"

#include <utility>

namespace allot {

Validation::Validation(std::vector<std::shared_ptr<const Scenario>> scenarios,
                       const PolicyMaker& reference, Objective objective,
                       std::int64_t max_decisions, int threads, std::shared_ptr<Team> team)
    : scenarios_(std::move(scenarios)),
      objective_(std::move(objective)),
      max_decisions_(max_decisions),
      threads_(threads),
      team_(std::move(team)) {
  reference_ =
      ComputeShared(*team_, scenarios_.size(), threads_, [&](std::size_t i) -> std::vector<double> {
        return {PlayFor(objective_, *scenarios_[i], *reference(), max_decisions_)};
      });
}

double Validation::Ratio(const Agent& agent) const {
  const auto values =
      ComputeShared(*team_, scenarios_.size(), threads_, [&](std::size_t i) -> std::vector<double> {
        return {PlayFor(objective_, *scenarios_[i], *MakeLearnedPolicy(agent), max_decisions_)};
      });
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += values[i][0] / reference_[i][0];
  return sum / static_cast<double>(values.size());
}

}  // namespace allot
