#pragma once
// A policy whose answers are applied as choices of the environment: with `--log-steps environment`
// the logged run is an episode of the environment, decision by decision, whatever the policy is.
//
// The policy is asked at every interval. A choice keeps the configurations that it answers for the
// jobs in the window, and drops GPUs, time shares and partners (features/choice_action.h).

#include <memory>
#include <vector>

#include "episode_log/step_columns.h"
#include "features/choice_action.h"
#include "sched/policy.h"

namespace allot {

class ChoicePolicy : public Policy {
 public:
  ChoicePolicy(std::unique_ptr<Policy> inside, const StepWindow& window);

  const PolicyInfo& info() const override { return info_; }
  void OnEpisodeStart(const EpisodeContext& context) override { inside_->OnEpisodeStart(context); }
  void Decide(const Observation& observation, Allocation* allocation) override;
  PolicyNotes notes() const override { return inside_->notes(); }
  SharesTime* ideal_shares() override { return inside_->ideal_shares(); }

 private:
  std::unique_ptr<Policy> inside_;
  PolicyInfo info_;
  StepColumns columns_;
  ChoiceAction choices_;
  Allocation answer_;
  std::vector<float> action_;
};

}  // namespace allot
