#pragma once
// The seam for training methods: a trainer improves the weights of a network, iteration by
// iteration, on episodes from a source. A new one is one file *_trainer.cc in this folder that
// registers a TrainerInfo; 'allot train --method ID:KEY=VALUE' finds it.
//
// A run is a pure function of (options, start state, episode source): any number of threads, and
// any number of processes and of stops and resumes in between, give the same bytes.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/params.h"
#include "core/registry.h"
#include "core/team.h"
#include "envs/episodes.h"
#include "length_model/length_model.h"
#include "models/adam.h"
#include "models/net_weights.h"
#include "sched/policy.h"

namespace allot {

using PolicyMaker = std::function<std::unique_ptr<Policy>()>;

// Of a mixture of worlds, the one that an episode is of.
struct EpisodeWorld {
  std::string name;     // Serving::world
  PolicyMaker teacher;  // in place of TrainerOptions::teacher
};

struct NetworkInfo;  // agents/learned/agent.h

struct TrainerOptions {  // of all methods
  std::uint64_t seed = 1;
  int iterations = 100;
  int workloads = 8;                  // arrivals per iteration
  std::int64_t max_decisions = 2000;  // an episode is cut there (unfinished.h)
  LengthModel lengths{};              // what policies know of run times beforehand
  PolicyMaker teacher;                // results are measured in its own on the same arrivals
  // By the seed that the episode source is asked with; empty: all are of one world.
  std::function<EpisodeWorld(std::uint64_t seed)> world_of{};
  int threads = 0;                           // <= 0: all cores
  std::shared_ptr<Team> team = TeamOfOne();  // of processes; every one calls Step together

  // Of the episode that the source makes by this seed.
  EpisodeWorld WorldOf(std::uint64_t episode) const {
    return world_of ? world_of(episode) : EpisodeWorld{"", teacher};
  }
};

struct TrainerState {
  std::int64_t iteration = 0;  // done so far
  std::int64_t episodes = 0;
  NetWeights weights;
  AdamState adam;
  TensorMap memory;  // what else the method needs to continue: a critic, a replay buffer
};

struct IterationReport {
  std::int64_t iteration = 0;
  std::int64_t episodes = 0;
  double ratio_to_teacher = 0;  // mean over workloads of the explored policies' result / teacher's
  double learning_rate = 0;
  double gradient_norm = 0;
  double signal = 0;  // size of what is learned from: advantages, or differences of fitness
};

class Trainer {
 public:
  virtual ~Trainer() = default;
  // One iteration. RunError when numbers stop being finite; the state is then as before the call.
  virtual IterationReport Step() = 0;
  virtual const TrainerState& state() const = 0;
};

struct TrainerInfo {
  bool Trains(const NetworkInfo& network) const;

  std::string id;
  std::string summary;
  std::vector<std::string> actions;  // of the networks that it trains (NetworkInfo::actions);
                                     // empty: any
  std::vector<ParamSpec> params;
  std::function<std::unique_ptr<Trainer>(const Params&, TrainerOptions, EpisodeSource,
                                         TrainerState)>
      make;
  bool shared = false;  // whether it trains in teams of several processes
};

// "evolution:pairs=12", watched (divergence_guard.h). UsageError with did-you-mean.
std::unique_ptr<Trainer> MakeTrainer(std::string_view spec, TrainerOptions options,
                                     EpisodeSource episodes, TrainerState state);

// In [0, 1]: 0 in the first iteration, 1 in the last.
double ShareDone(std::int64_t iteration, int iterations);
// Falls geometrically from `first` to `last` over the iterations.
double LearningRateAt(std::int64_t iteration, int iterations, double first, double last);
// Moves linearly from `first` to `last` over the iterations.
double EntropyWeightAt(std::int64_t iteration, int iterations, double first, double last);

}  // namespace allot
