#include "agents/training/validation.h"

#include <utility>

namespace allot {

Validation::Validation(std::vector<ValidationEpisode> episodes, Objective objective,
                       std::int64_t max_decisions, int threads, std::shared_ptr<Team> team)
    : episodes_(std::move(episodes)),
      objective_(std::move(objective)),
      max_decisions_(max_decisions),
      threads_(threads),
      team_(std::move(team)) {
  reference_ =
      ComputeShared(*team_, episodes_.size(), threads_, [&](std::size_t i) -> std::vector<double> {
        return {PlayFor(objective_, *episodes_[i].scenario, *episodes_[i].world.teacher(),
                        max_decisions_)};
      });
}

Validation::Ratios Validation::Of(const Agent& agent) const {
  const auto values =
      ComputeShared(*team_, episodes_.size(), threads_, [&](std::size_t i) -> std::vector<double> {
        const auto policy = MakeLearnedPolicy(agent, {.world = episodes_[i].world.name});
        return {PlayFor(objective_, *episodes_[i].scenario, *policy, max_decisions_)};
      });
  Ratios ratios;
  std::map<std::string, double> episodes;
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double ratio = values[i][0] / reference_[i][0];
    sum += ratio;
    ratios.by_group[episodes_[i].group] += ratio;
    ++episodes[episodes_[i].group];
  }
  ratios.mean = sum / static_cast<double>(values.size());
  for (auto& [group, ratio] : ratios.by_group) ratio /= episodes[group];
  return ratios;
}

}  // namespace allot
