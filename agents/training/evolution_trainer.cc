// Evolution strategies (Salimans et al., arXiv 1703.03864): the gradient of an objective, smoothed
// by a normal perturbation of the weights, from differences between pairs of opposite
// perturbations. All play the same arrivals, so that only the policy makes a difference. Needs no
// gradient of the objective: percentiles, fairness, resize costs, placement are what they are.

#include <fmt/ranges.h>

#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "agents/learned/agent.h"
#include "agents/training/objective.h"
#include "agents/training/trainer.h"
#include "agents/training/weight_average.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "core/strings.h"

namespace allot {
namespace {

struct EvolutionOptions {
  int pairs = 12;
  double sigma = 0.05;
  bool hidden = true;
  std::set<std::string> tensors{};  // that are learned; empty: all
  double learning_rate = 0.02;
  double final_learning_rate = 0.002;
  double average = 0;
};

class EvolutionTrainer : public Trainer {
 public:
  EvolutionTrainer(const EvolutionOptions& own, Objective objective, TrainerOptions options,
                   EpisodeSource episodes, TrainerState state)
      : own_(own),
        objective_(std::move(objective)),
        options_(std::move(options)),
        episodes_(std::move(episodes)),
        state_(std::move(state)),
        last_(LastWeights(state_)) {}

  const TrainerState& state() const override { return state_; }

  IterationReport Step() override {
    const auto workloads = static_cast<std::size_t>(options_.workloads);
    const auto pairs = static_cast<std::size_t>(own_.pairs);
    const auto iteration = static_cast<std::uint64_t>(state_.iteration);

    std::vector<TensorMap> directions(pairs);
    for (std::size_t p = 0; p < pairs; ++p) directions[p] = Direction(iteration, p);

    // Each process plays the pairs of its share on all arrivals.
    std::vector<std::shared_ptr<const Scenario>> scenarios(workloads);
    std::vector<EpisodeWorld> worlds(workloads);
    ParallelFor(workloads, options_.threads, [&](std::size_t w) {
      const std::uint64_t seed = Rng(options_.seed, "training-episode", iteration, w).NextU64();
      scenarios[w] = episodes_(seed);
      worlds[w] = options_.WorldOf(seed);
    });
    const auto teacher = ComputeShared(
        *options_.team, workloads, options_.threads, [&](std::size_t w) -> std::vector<double> {
          return {PlayFor(objective_, *scenarios[w], *worlds[w].teacher(), options_.max_decisions)};
        });
    // ln(result / teacher's) by (pair, sign, workload).
    const auto results = ComputeShared(
        *options_.team, pairs * 2 * workloads, options_.threads,
        [&](std::size_t i) -> std::vector<double> {
          const std::size_t w = i % workloads;
          const std::size_t p = i / workloads / 2;
          const float sign = i / workloads % 2 == 0 ? 1.0F : -1.0F;
          Agent agent{last_, options_.lengths};
          AddScaled(&agent.weights.tensors, directions[p], sign * static_cast<float>(own_.sigma));
          return {std::log(PlayFor(objective_, *scenarios[w],
                                   *MakeLearnedPolicy(agent, {.world = worlds[w].name}),
                                   options_.max_decisions) /
                           teacher[w][0])};
        });
    return Learn(directions, results, worlds);
  }

 private:
  TensorMap Direction(std::uint64_t iteration, std::uint64_t pair) const {
    Rng rng(options_.seed, "evolution-direction", iteration, pair);
    TensorMap direction = ZerosLike(state_.weights.tensors);
    for (auto& [name, tensor] : direction) {
      if (!own_.hidden && name.starts_with("hidden.")) continue;
      if (!own_.tensors.empty() && !own_.tensors.contains(name)) continue;
      for (float& value : tensor.data) value = static_cast<float>(rng.Normal());
    }
    return direction;
  }

  // By pair: mean over the workloads of `world` (of all, where it is empty) of the difference that
  // the sign made; empty where none was played.
  static std::vector<double> Differences(const std::vector<std::vector<double>>& results,
                                         const std::vector<EpisodeWorld>& worlds,
                                         std::string_view world) {
    const std::size_t workloads = worlds.size();
    const auto counts = [&](std::size_t w) { return world.empty() || worlds[w].name == world; };
    double played = 0;
    for (std::size_t w = 0; w < workloads; ++w) played += counts(w) ? 1 : 0;
    std::vector<double> difference;
    if (played == 0) return difference;
    difference.assign(results.size() / workloads / 2, 0.0);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const double sign = i / workloads % 2 == 0 ? 1 : -1;
      if (counts(i % workloads)) difference[i / workloads / 2] += sign * results[i][0] / played;
    }
    return difference;
  }

  static double RootMeanSquare(const std::vector<double>& values) {
    double squares = 0;
    for (const double v : values) squares += v * v / static_cast<double>(values.size());
    return std::sqrt(squares);
  }

  // What a world's own tensors did shows in its episodes only.
  TensorMap Gradient(const std::vector<TensorMap>& directions,
                     const std::vector<std::vector<double>>& results,
                     const std::vector<EpisodeWorld>& worlds) const {
    TensorMap gradient = ZerosLike(state_.weights.tensors);
    std::map<std::string_view, std::vector<double>> scales;  // by world
    for (auto& [name, tensor] : gradient) {
      const std::string_view world = WorldOfTensor(name);
      const auto [found, is_new] = scales.try_emplace(world);
      if (is_new) {
        found->second = Differences(results, worlds, world);
        const double size = std::max(RootMeanSquare(found->second), 1e-12);
        for (double& d : found->second) d /= size * static_cast<double>(directions.size());
      }
      for (std::size_t p = 0; p < found->second.size(); ++p) {
        const auto scale = static_cast<float>(found->second[p]);
        const std::vector<float>& direction = directions[p].find(name)->second.data;
        for (std::size_t i = 0; i < direction.size(); ++i) tensor.data[i] += scale * direction[i];
      }
    }
    return gradient;
  }

  IterationReport Learn(const std::vector<TensorMap>& directions,
                        const std::vector<std::vector<double>>& results,
                        const std::vector<EpisodeWorld>& worlds) {
    IterationReport report;
    for (const std::vector<double>& result : results) {
      report.ratio_to_teacher += std::exp(result[0]) / static_cast<double>(results.size());
    }
    report.signal = RootMeanSquare(Differences(results, worlds, ""));
    const TensorMap gradient = Gradient(directions, results, worlds);
    report.learning_rate = LearningRateAt(state_.iteration, options_.iterations, own_.learning_rate,
                                          own_.final_learning_rate);
    report.gradient_norm =
        AdamStep(gradient, report.learning_rate, {}, &last_.tensors, &state_.adam);
    AverageWeights(last_, own_.average, &state_);
    state_.episodes += static_cast<std::int64_t>(results.size());
    report.episodes = state_.episodes;
    report.iteration = ++state_.iteration;
    return report;
  }

  EvolutionOptions own_;
  Objective objective_;
  TrainerOptions options_;
  EpisodeSource episodes_;
  TrainerState state_;
  NetWeights last_;  // that perturbations are of
};

std::set<std::string> TensorsNamed(const std::string& text, const NetWeights& weights) {
  std::set<std::string> names;
  if (text.empty()) return names;
  if (text == "own") {
    for (const auto& [name, tensor] : weights.tensors) {
      if (!WorldOfTensor(name).empty()) names.insert(name);
    }
    if (!names.empty()) return names;
    throw UsageError(
        "training method 'evolution': tensors=own, but the network '{}' has no tensors of single "
        "worlds",
        weights.kind);
  }
  for (const std::string_view part : Split(text, '|')) {
    const std::string name(part);
    if (!weights.tensors.contains(name)) {
      std::vector<std::string> known;
      for (const auto& [each, tensor] : weights.tensors) known.push_back(each);
      throw UsageError("training method 'evolution': the network has no tensor '{}', it has {}",
                       name, fmt::join(known, ", "));
    }
    names.insert(name);
  }
  return names;
}

ALLOT_REGISTER(
    TrainerInfo,
    (TrainerInfo{
        "evolution",
        "evolution strategies on an objective, pairs of opposite perturbations",
        {},
        {{"objective", "balanced", "what is minimised, see 'allot list objectives'"},
         {"pairs", "12", "pairs of perturbations per iteration", 1, 10000},
         {"sigma", "0.05", "standard deviation of a perturbation", 1e-6, 10},
         {"learn-hidden", "true", "also learn the hidden layer, not only the output layer"},
         {"tensors", "",
          "names of those that are learned, joined by '|' (out.job, out.context, ...); "
          "own: those of single worlds; empty: all"},
         {"learning-rate", "0.02", "of Adam, in the first iteration", 1e-9, 10},
         {"final-learning-rate", "0.002", "of Adam, in the last iteration", 1e-9, 10},
         {"average-decay", "0",
          "decay per iteration of the moving average of the weights (0: none)", 0, 0.9999}},
        [](const Params& params, TrainerOptions options, EpisodeSource episodes,
           TrainerState state) -> std::unique_ptr<Trainer> {
          const EvolutionOptions own{.pairs = params.Integer("pairs"),
                                     .sigma = params.Number("sigma"),
                                     .hidden = params.Flag("learn-hidden"),
                                     .tensors = TensorsNamed(params.Text("tensors"), state.weights),
                                     .learning_rate = params.Number("learning-rate"),
                                     .final_learning_rate = params.Number("final-learning-rate"),
                                     .average = params.Number("average-decay")};
          CheckAverageBegun(state, own.average);
          return std::make_unique<EvolutionTrainer>(own, ObjectiveNamed(params.Text("objective")),
                                                    std::move(options), std::move(episodes),
                                                    std::move(state));
        },
        true}));

}  // namespace
}  // namespace allot
