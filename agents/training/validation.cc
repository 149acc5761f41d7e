#include "agents/training/validation.h"

#include <utility>

#include "agents/learned/index_policy.h"
#include "core/parallel.h"

namespace allot {

Validation::Validation(std::vector<std::shared_ptr<const Scenario>> scenarios,
                       const std::string& teacher, RolloutOptions options, int threads)
    : scenarios_(std::move(scenarios)),
      teacher_(scenarios_.size()),
      options_(std::move(options)),
      threads_(threads) {
  options_.reward = "jct";  // whatever is trained on: minus the total JCT, so that less is better
  ParallelFor(scenarios_.size(), threads_, [&](std::size_t i) {
    teacher_[i] = EpisodeReward(scenarios_[i], *MakePolicy(teacher), options_);
  });
}

double Validation::Ratio(const IndexNetWeights& weights) const {
  std::vector<double> ratios(scenarios_.size());
  ParallelFor(scenarios_.size(), threads_, [&](std::size_t i) {
    IndexPolicy policy(weights, LearnedPolicyInfo());
    ratios[i] = EpisodeReward(scenarios_[i], policy, options_) / teacher_[i];
  });
  double sum = 0;
  for (const double ratio : ratios) sum += ratio;
  return sum / static_cast<double>(ratios.size());
}

}  // namespace allot
