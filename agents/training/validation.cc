#include "agents/training/validation.h"

#include <utility>

#include "core/parallel.h"

namespace allot {

Validation::Validation(std::vector<std::shared_ptr<const Scenario>> scenarios,
                       const PolicyMaker& reference, Objective objective,
                       std::int64_t max_decisions, int threads)
    : scenarios_(std::move(scenarios)),
      objective_(std::move(objective)),
      max_decisions_(max_decisions),
      threads_(threads),
      reference_(scenarios_.size()) {
  ParallelFor(scenarios_.size(), threads_, [&](std::size_t i) {
    reference_[i] = PlayFor(objective_, *scenarios_[i], *reference(), max_decisions_);
  });
}

double Validation::Ratio(const Agent& agent) const {
  std::vector<double> ratios(scenarios_.size());
  ParallelFor(scenarios_.size(), threads_, [&](std::size_t i) {
    ratios[i] = PlayFor(objective_, *scenarios_[i], *MakeLearnedPolicy(agent), max_decisions_) /
                reference_[i];
  });
  double sum = 0;
  for (const double ratio : ratios) sum += ratio;
  return sum / static_cast<double>(ratios.size());
}

}  // namespace allot
