#pragma once
// "allot/GpuCluster-v0": a simulated cluster as an environment, with index, sequence or choice
// actions.

#include <memory>
#include <string>

#include "envs/agent_side.h"
#include "envs/env.h"
#include "envs/episodes.h"
#include "envs/rewards/reward.h"
#include "sim/ruled_simulation.h"

namespace allot {

struct ClusterEnvOptions : AgentSideOptions {
  std::string reward = "jct";
  double reward_scale = 1;
  // Truncation, also after 1000 illegal actions in a row; none: MostDecisions of each episode.
  std::optional<std::int64_t> max_decisions = 50000;
};

// Twice the decisions that an episode can take where GPUs never idle while a job that would fit
// waits: until the last arrival, all work at the requested sizes by the GPUs, then the longest job.
// A policy that takes longer leaves jobs waiting without need, maybe for ever.
std::int64_t MostDecisions(const Scenario& scenario);

// UsageError for a window or a width that is none.
inline EnvSpec ClusterEnvSpec(const ClusterEnvOptions& options) { return AgentSideSpec(options); }

class ClusterEnv : public Env {
 public:
  ClusterEnv(EpisodeSource episodes, ClusterEnvOptions options);

  const EnvSpec& spec() const override { return agent_.spec(); }
  const ClusterEnvOptions& options() const { return options_; }
  bool over() const { return over_; }           // the episode has ended; true before the first
  std::uint64_t seed() const { return seed_; }  // of the episode that was reset last
  StepInfo Reset(std::optional<std::uint64_t> seed) override;
  StepResult Step(std::span<const float> action) override;
  void Observe(const ObservationView& view) const override { agent_.Observe(observation(), view); }

  // The typed level below the tensors, for heuristics and trainers written in C++.
  const Observation& observation() const { return simulation_->port().Observe(); }
  StepResult StepAllocation(const Allocation& allocation);
  const SimulatedCluster& cluster() const { return simulation_->cluster(); }
  const FeatureBatch& features() const { return agent_.features(); }  // of observation()

 private:
  StepInfo Info() const;
  void SumUp(StepInfo* info) const;

  EpisodeSource episodes_;
  ClusterEnvOptions options_;
  AgentSide agent_;
  const RewardInfo& reward_;
  std::uint64_t seed_ = 0;
  std::uint64_t next_seed_ = 0;
  std::shared_ptr<const Scenario> scenario_;
  std::unique_ptr<RuledSimulation> simulation_;
  Allocation allocation_;
  std::int64_t decisions_ = 0;
  std::int64_t max_decisions_ = 0;  // of this episode
  bool over_ = true;
  int idle_ = 0;  // illegal actions in a row
};

}  // namespace allot
