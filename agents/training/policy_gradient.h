#pragma once
// Policy gradient on the index network: sampled fills, same-arrivals leave-one-out advantages,
// Adam. (docs/learning.md; the estimator is REINFORCE, Williams 1992, with the baseline of Mao et
// al. 2018.)
//
// A run is a pure function of (options, start weights, episode source): any number of threads, and
// any number of stops and resumes in between, give the same bytes.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agents/training/rollout.h"
#include "envs/episodes.h"
#include "models/adam.h"
#include "models/index_net.h"

namespace allot {

struct PolicyGradientOptions {
  std::uint64_t seed = 1;
  int iterations = 100;
  int workloads = 8;  // arrivals per iteration
  int rollouts = 8;   // of each, >= 2
  RolloutOptions rollout{.keep = 0.1};
  double discount_half_life = 86400;  // seconds after which a later reward counts half
  double learning_rate = 0.003;  // 0.01 drifts away within a few dozen iterations
  double final_learning_rate = 0.001;  // reached geometrically at the last iteration
  std::string teacher = "optimus";     // returns are measured in its total
  int threads = 0;                     // <= 0: all cores
};

struct PolicyGradientState {
  std::int64_t iteration = 0;  // done so far
  std::int64_t episodes = 0;
  IndexNetWeights weights;
  AdamState adam;
};

struct IterationReport {
  std::int64_t iteration = 0;
  std::int64_t episodes = 0;
  double ratio_to_teacher = 0;  // mean over workloads of sampled total / teacher's total
  double advantage_rms = 0;
  double gradient_norm = 0;
  double learning_rate = 0;
};

class PolicyGradientTrainer {
 public:
  PolicyGradientTrainer(PolicyGradientOptions options, EpisodeSource episodes,
                        PolicyGradientState state);
  ~PolicyGradientTrainer();

  bool done() const;
  // One iteration. RunError when numbers stop being finite; the state is then as before the call.
  IterationReport Step();
  const PolicyGradientState& state() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot
