#pragma once
// One episode as trainers play it: their allocations go in, rewards by decision instant come out.
// The steps, and what ends an episode, are the environment's.

#include <cstdint>
#include <memory>
#include <vector>

#include "envs/cluster_env.h"

namespace allot {

class TrainingEpisode {
 public:
  // Begins at once. `options.max_decisions` cuts it; what is left undone then counts as if every
  // job ran alone (unfinished.h).
  TrainingEpisode(std::shared_ptr<const Scenario> scenario, const ClusterEnvOptions& options);

  const Observation& observation() { return env_.observation(); }
  const FeatureBatch& features() const { return env_.features(); }
  std::int32_t tick();  // decision instant / interval
  bool over() const { return over_; }
  void Step(const Allocation& allocation);

  // 0 where no decision fell due.
  const std::vector<double>& reward_of_tick() const { return reward_of_tick_; }
  double total_reward() const { return total_reward_; }

 private:
  void Add(double reward, std::int32_t tick);

  std::shared_ptr<const Scenario> scenario_;
  ClusterEnv env_;
  const RewardInfo& reward_;
  std::vector<double> reward_of_tick_;
  double total_reward_ = 0;
  bool over_ = false;
};

}  // namespace allot
