#pragma once
// "allot/GpuCluster-v0": a simulated cluster as an environment, with index, sequence or choice
// actions.

#include <memory>
#include <string>

#include "envs/env.h"
#include "envs/episodes.h"
#include "envs/rewards/reward.h"
#include "features/choice_action.h"
#include "features/encoder.h"
#include "features/index_action.h"
#include "features/sequence_action.h"

namespace allot {

// What a step is given: scores of all jobs (features/index_action.h), one unit more or the end of
// the decision (sequence_action.h), a configuration for each job (choice_action.h).
enum class ActionMode { kIndex, kSequence, kChoice };

struct ClusterEnvOptions {
  ActionMode mode = ActionMode::kIndex;
  int max_jobs = 128;           // window: the first jobs by submission; later ones are served last
                                // by an index, and get nothing by the others
  int max_configurations = 64;  // of a job's table, that a choice can name
  std::string reward = "jct";
  std::string placement = "packed";
  std::int64_t max_decisions = 50000;  // truncation
  LengthModel lengths{};               // what forecasts of remaining time know beforehand
  bool features = true;                // false: features() and Observe are not used
  bool strict = false;  // an illegal action throws UsageError instead of being ignored
};

// UsageError for a window or a width that is none.
EnvSpec ClusterEnvSpec(const ClusterEnvOptions& options);

class ClusterEnv : public Env {
 public:
  ClusterEnv(EpisodeSource episodes, ClusterEnvOptions options);

  const EnvSpec& spec() const override { return spec_; }
  StepInfo Reset(std::optional<std::uint64_t> seed) override;
  StepResult Step(std::span<const float> action) override;
  void Observe(const ObservationView& view) const override;

  // The typed level below the tensors, for heuristics and trainers written in C++.
  const Observation& observation() { return cluster_->Observe(); }
  StepResult StepAllocation(const Allocation& allocation);
  const SimulatedCluster& cluster() const { return *cluster_; }
  const FeatureBatch& features() const { return features_; }  // of observation()

 private:
  StepResult StepIndex(std::span<const float> action);
  StepResult StepChoice(std::span<const float> action);
  StepResult StepSequence(std::span<const float> action);
  void BeginDecision();
  StepInfo Info() const;
  void SumUp(StepInfo* info) const;

  EpisodeSource episodes_;
  ClusterEnvOptions options_;
  EnvSpec spec_;
  const RewardInfo& reward_;
  std::uint64_t next_seed_ = 0;
  std::shared_ptr<const Scenario> scenario_;
  std::unique_ptr<SimulatedCluster> cluster_;
  FeatureEncoder encoder_;
  FeatureBatch features_;
  IndexAction index_action_;
  SequenceAction sequence_action_;
  ChoiceAction choice_action_;
  std::vector<Score> scores_;
  Allocation allocation_;
  std::int64_t decisions_ = 0;
  bool over_ = true;
};

}  // namespace allot
