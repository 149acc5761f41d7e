#pragma once
// Policy gradient on the index network: sampled fills, same-arrivals leave-one-out advantages with
// or without the state's part (state_baseline.h), Adam, the mean of the last weights.
// (docs/learning-method.md; the estimator is REINFORCE, Williams 1992, with the baseline of Mao et
// al. 2018; the mean is that of Polyak and Juditsky, 1992, over a window that moves.)

#include <memory>

#include "agents/training/rollout.h"
#include "agents/training/trainer.h"

namespace allot {

struct PolicyGradientOptions {
  int rollouts = 8;  // of each of an iteration's workloads, >= 2; with backlogs >= 3
  RolloutOptions rollout{.tau = 0.1, .noise_interval = 12, .backlogs = true};
  // Advantages count in units of their size in their workload, not in the whole iteration: heavy
  // tails make some workloads much louder than others.
  bool each_workload = true;
  // The weights that are validated and served are a mean of those of the iterations: this share of
  // it stays from one to the next, less in the first ones. 0: they are the last ones themselves.
  double average = 0.9;
  // s after which a later reward counts half. What a short one leaves out is a bias: a day is too
  // short for jobs of hours, as they meet their queue.
  double discount_half_life = 1e18;
  double learning_rate = 0.001;         // more drifts away within a few dozen iterations
  double final_learning_rate = 0.0001;  // reached geometrically at the last iteration
};

class PolicyGradientTrainer : public Trainer {
 public:
  // max_decisions and lengths of the rollouts are those of `options`.
  PolicyGradientTrainer(PolicyGradientOptions own, TrainerOptions options, EpisodeSource episodes,
                        TrainerState state);
  ~PolicyGradientTrainer() override;

  IterationReport Step() override;
  const TrainerState& state() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot
