#include "experiment/choice_policy.h"

#include <utility>

namespace allot {

ChoicePolicy::ChoicePolicy(std::unique_ptr<Policy> inside, const StepWindow& window)
    : inside_(std::move(inside)),
      info_(inside_->info()),
      columns_(window),
      choices_(static_cast<int>(window.jobs), static_cast<int>(window.configurations)) {
  info_.time_driven = true;
}

void ChoicePolicy::Decide(const Observation& observation, Allocation* allocation) {
  inside_->Decide(observation, &answer_);
  columns_.Act(observation, answer_);
  action_.assign(columns_.action.begin(), columns_.action.end());
  choices_.Begin(observation);
  choices_.Decode(action_, allocation);
}

}  // namespace allot
