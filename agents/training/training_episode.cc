#include "agents/training/training_episode.h"

#include <cmath>
#include <utility>

#include "agents/training/unfinished.h"
#include "core/index.h"

namespace allot {

TrainingEpisode::TrainingEpisode(std::shared_ptr<const Scenario> scenario,
                                 const ClusterEnvOptions& options)
    : scenario_(std::move(scenario)),
      env_([scenario = scenario_](std::uint64_t) { return scenario; }, options),
      reward_(GetReward(options.reward)) {
  env_.Reset(0);
}

std::int32_t TrainingEpisode::tick() {
  const Observation& o = observation();
  return static_cast<std::int32_t>(std::llround(o.now / o.interval));
}

void TrainingEpisode::Add(double reward, std::int32_t tick) {
  reward_of_tick_.resize(At(tick) + 1, 0.0);
  reward_of_tick_[At(tick)] += reward;
  total_reward_ += reward;
}

void TrainingEpisode::Step(const Allocation& allocation) {
  const std::int32_t at = tick();
  const StepResult step = env_.StepAllocation(allocation);
  Add(step.reward, at);
  over_ = step.terminated || step.truncated;
  if (!step.truncated) return;
  const Observation& last = observation();
  Add(reward_.compute(StepAlone(*scenario_, last), last), at);
}

}  // namespace allot
