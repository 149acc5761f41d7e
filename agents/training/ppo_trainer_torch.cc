// Proximal policy optimisation (Schulman et al., arXiv 1707.06347) of a sequence network, with
// generalised advantages (arXiv 1506.02438) over decisions: within one decision no time passes, so
// that all its increments share what came of it, each less the critic's value of its own state.

#include <algorithm>
#include <cmath>
#include <utility>

#include "agents/training/sequence_learner.h"
#include "core/error.h"
#include "core/rng.h"

namespace allot {
namespace {

struct PpoOptions {
  CollectOptions collect;
  Baseline baseline = Baseline::kCritic;
  double keep = 0.5;
  double clip = 0.2;
  double lambda = 0.95;
  int epochs = 4;
  int minibatch = 1024;
  double entropy = 0.01;
  double final_entropy = 0.001;
  double learning_rate = 0.003;
  double final_learning_rate = 0.0006;
};

class PpoTrainer : public Trainer {
 public:
  PpoTrainer(PpoOptions own, TrainerOptions options, EpisodeSource episodes, TrainerState state)
      : own_(std::move(own)),
        options_(std::move(options)),
        episodes_(std::move(episodes)),
        state_(std::move(state)),
        actor_(state_.weights, state_.adam, {.max_gradient_norm = 1}, options_.threads),
        critic_(CriticFrom(state_.memory, state_.weights, {.max_gradient_norm = 1}, options_.seed,
                           options_.threads)) {
    own_.collect.rollout.max_decisions = options_.max_decisions;
    own_.collect.rollout.lengths = options_.lengths;
    own_.collect.rollout.exploration.share = 0;  // its gradient is of its own policy
  }

  const TrainerState& state() const override { return state_; }

  IterationReport Step() override {
    const Collected collected =
        Collect(own_.collect, options_, episodes_, state_.weights, state_.iteration);
    Batch batch = Learnable(collected);
    IterationReport report;
    report.ratio_to_teacher = collected.ratio_to_teacher;
    report.signal = Normalise(&batch.advantages, own_.baseline != Baseline::kArrivals);
    const double entropy =
        EntropyWeightAt(state_.iteration, options_.iterations, own_.entropy, own_.final_entropy);
    report.learning_rate = LearningRateAt(state_.iteration, options_.iterations, own_.learning_rate,
                                          own_.final_learning_rate);
    for (int epoch = 0; epoch < own_.epochs; ++epoch) {
      const auto order =
          ShuffledIndices(batch.samples.size(), Rng(options_.seed, "ppo-order",
                                                    static_cast<std::uint64_t>(state_.iteration),
                                                    static_cast<std::uint64_t>(epoch)));
      const auto size = static_cast<std::size_t>(own_.minibatch);
      for (std::size_t begin = 0; begin < order.size(); begin += size) {
        const auto part = std::span(order).subspan(begin, std::min(size, order.size() - begin));
        report.gradient_norm = Learn(batch, part, entropy, report.learning_rate);
      }
    }
    state_.weights = actor_.weights();
    state_.adam = actor_.adam();
    if (own_.baseline == Baseline::kCritic) Remember(critic_, &state_.memory);
    state_.episodes += static_cast<std::int64_t>(collected.episodes.size());
    report.episodes = state_.episodes;
    report.iteration = ++state_.iteration;
    return report;
  }

 private:
  struct Batch {
    SequenceSamples samples;
    std::vector<double> advantages;
    std::vector<double> targets;  // of the critic
  };

  Batch Learnable(const Collected& collected) const {
    Batch batch;
    for (std::size_t e = 0; e < collected.episodes.size(); ++e) {
      const Collected::Episode& episode = collected.episodes[e];
      Rng selection(options_.seed, "kept-increments", static_cast<std::uint64_t>(state_.iteration),
                    e);
      std::vector<std::size_t> kept;
      for (std::size_t i = 0; i < episode.samples.size(); ++i) {
        if (selection.Uniform() < own_.keep) kept.push_back(i);
      }
      batch.samples.Append(episode.samples, kept);
      const std::vector<double> target =
          own_.baseline == Baseline::kCritic ? LambdaReturns(episode) : episode.returns;
      const std::vector<double>& against =
          own_.baseline == Baseline::kArrivals ? episode.against_arrivals : target;
      const std::vector<double> values = own_.baseline == Baseline::kCritic
                                             ? critic_.Values(episode.samples, kept)
                                             : std::vector<double>(kept.size(), 0.0);
      for (std::size_t k = 0; k < kept.size(); ++k) {
        const auto tick = static_cast<std::size_t>(episode.samples.tick[kept[k]]);
        batch.targets.push_back(target[tick]);
        batch.advantages.push_back(against[tick] - values[k]);
      }
    }
    return batch;
  }

  // By tick: the lambda-return, bootstrapped from the values of the decisions' first states. Where
  // a decision had no choice to make there is no value, and the return continues after it.
  std::vector<double> LambdaReturns(const Collected::Episode& episode) const {
    std::vector<std::size_t> heads;
    for (std::size_t i = 0; i < episode.samples.size(); ++i) {
      if (episode.samples.head[i] != 0) heads.push_back(i);
    }
    const std::vector<double> values = critic_.Values(episode.samples, heads);
    std::vector<double> value_at(episode.rewards.size() + 1, std::nan(""));
    for (std::size_t h = 0; h < heads.size(); ++h) {
      value_at[static_cast<std::size_t>(episode.samples.tick[heads[h]])] = values[h];
    }
    std::vector<double> target(episode.rewards.size() + 1, 0.0);
    for (std::size_t t = episode.rewards.size(); t-- > 0;) {
      const double later = target[t + 1];
      const double value = value_at[t + 1];
      const double next =
          std::isnan(value) ? later : (1 - own_.lambda) * value + own_.lambda * later;
      target[t] = episode.rewards[t] + own_.collect.discount * next;
    }
    return target;
  }

  double Learn(const Batch& batch, std::span<const std::size_t> part, double entropy,
               double learning_rate) {
    const SequenceSamples& samples = batch.samples;
    const double norm = actor_.Step(
        samples, part,
        [&](std::size_t i, std::span<const float> logits, std::span<float> gradient) {
          const double advantage = batch.advantages[i];
          const double ratio = std::exp(LogChance(logits, samples.mask_of(i), samples.action[i]) -
                                        samples.log_chance[i]);
          // Beyond the clip the surrogate is flat.
          const bool flat = advantage > 0 ? ratio > 1 + own_.clip : ratio < 1 - own_.clip;
          return ActorLoss(logits, samples.mask_of(i), samples.action[i],
                           flat ? 0.0 : advantage * ratio, entropy, gradient);
        },
        learning_rate);
    if (own_.baseline == Baseline::kCritic) {
      critic_.Step(samples, part, ValueLoss(batch.targets), learning_rate);
    }
    return norm;
  }

  PpoOptions own_;
  TrainerOptions options_;
  EpisodeSource episodes_;
  TrainerState state_;
  SequenceLearner actor_;
  SequenceLearner critic_;
};

ALLOT_REGISTER(
    TrainerInfo,
    (TrainerInfo{
        "ppo",
        "proximal policy optimisation of increments, generalised advantages",
        {"sequence"},
        {{"rollouts", "8", "of each workload (same arrivals)", 1, 10000},
         {"baseline", "critic", "critic, arrivals (mean of the other rollouts) or none"},
         {"reward", "jct", "see 'allot list rewards'"},
         {"discount", "1", "of rewards, per interval", 0, 1},
         {"lambda", "0.95", "of generalised advantage estimation", 0, 1},
         {"clip", "0.2", "clip range of the probability ratio", 0, 100},
         {"epochs", "4", "passes over the increments of an iteration", 1, 1000},
         {"minibatch", "1024", "increments per gradient step", 1, 1000000},
         {"sample-share", "0.5", "share of increments that are learned from", 1e-6, 1},
         {"entropy", "0.01", "weight of the entropy bonus, in the first iteration", 0, 100},
         {"final-entropy", "0.001", "weight of the entropy bonus, in the last iteration", 0, 100},
         {"learning-rate", "0.003", "of Adam, in the first iteration", 1e-9, 10},
         {"final-learning-rate", "0.0006", "of Adam, in the last iteration", 1e-9, 10}},
        [](const Params& params, TrainerOptions options, EpisodeSource episodes,
           TrainerState state) -> std::unique_ptr<Trainer> {
          PpoOptions own;
          own.collect.rollouts = params.Integer("rollouts");
          own.collect.discount = params.Number("discount");
          own.collect.rollout.reward = params.Text("reward");
          own.baseline = BaselineNamed(params.Text("baseline"));
          RequireRollouts(own.baseline, own.collect.rollouts);
          own.keep = params.Number("sample-share");
          own.clip = params.Number("clip");
          own.lambda = params.Number("lambda");
          own.epochs = params.Integer("epochs");
          own.minibatch = params.Integer("minibatch");
          own.entropy = params.Number("entropy");
          own.final_entropy = params.Number("final-entropy");
          own.learning_rate = params.Number("learning-rate");
          own.final_learning_rate = params.Number("final-learning-rate");
          return std::make_unique<PpoTrainer>(std::move(own), std::move(options),
                                              std::move(episodes), std::move(state));
        }}));

}  // namespace
}  // namespace allot
