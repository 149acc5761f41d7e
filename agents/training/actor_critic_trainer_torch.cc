// DL2's trainer (Peng et al., TPDS'21, section 4): actor and critic on increments drawn from a
// replay memory, with an entropy bonus and job-aware exploration. Where the published program takes
// the gradient at probabilities of the past, this one takes it at the present policy's and weights
// it by present / past probability, cut at `ratio` (docs/learning-networks.md lists what differs).

#include <algorithm>
#include <cmath>
#include <utility>

#include "agents/training/replay_memory.h"
#include "agents/training/sequence_learner.h"
#include "core/error.h"
#include "core/rng.h"

namespace allot {
namespace {

enum class Replay { kPrioritised, kUniform, kNone };

struct ActorCriticOptions {
  CollectOptions collect;
  Baseline baseline = Baseline::kCritic;
  Replay replay = Replay::kPrioritised;
  int memory = 8192;
  int minibatch = 256;
  int updates = 32;
  double keep = 0.5;
  double most_ratio = 2;
  double entropy = 0.1;
  double final_entropy = 0.001;
  double learning_rate = 0.003;
  double final_learning_rate = 0.0006;
};

class ActorCriticTrainer : public Trainer {
 public:
  ActorCriticTrainer(ActorCriticOptions own, TrainerOptions options, EpisodeSource episodes,
                     TrainerState state)
      : own_(std::move(own)),
        options_(std::move(options)),
        episodes_(std::move(episodes)),
        state_(std::move(state)),
        actor_(state_.weights, state_.adam, {.max_gradient_norm = 1}, options_.threads),
        critic_(CriticFrom(state_.memory, state_.weights, {.max_gradient_norm = 1}, options_.seed,
                           options_.threads)),
        memory_(static_cast<std::size_t>(own_.memory)) {
    own_.collect.rollout.max_decisions = options_.max_decisions;
    own_.collect.rollout.lengths = options_.lengths;
    memory_.Load(state_.memory);
  }

  const TrainerState& state() const override { return state_; }

  IterationReport Step() override {
    const Collected collected =
        Collect(own_.collect, options_, episodes_, state_.weights, state_.iteration);
    entropy_ =
        EntropyWeightAt(state_.iteration, options_.iterations, own_.entropy, own_.final_entropy);
    IterationReport report;
    report.ratio_to_teacher = collected.ratio_to_teacher;
    report.learning_rate = LearningRateAt(state_.iteration, options_.iterations, own_.learning_rate,
                                          own_.final_learning_rate);
    if (own_.replay == Replay::kNone) {
      LearnAtOnce(collected, &report);
    } else {
      LearnFromMemory(collected, ShareDone(state_.iteration, options_.iterations), &report);
    }
    state_.weights = actor_.weights();
    state_.adam = actor_.adam();
    if (own_.baseline == Baseline::kCritic) Remember(critic_, &state_.memory);
    memory_.Save(&state_.memory);
    state_.episodes += static_cast<std::int64_t>(collected.episodes.size());
    report.episodes = state_.episodes;
    report.iteration = ++state_.iteration;
    return report;
  }

 private:
  // The kept increments of all episodes and what came of each: with the baseline of equal arrivals
  // that against the other rollouts, else the return.
  void Gather(const Collected& collected, SequenceSamples* samples,
              std::vector<float>* targets) const {
    for (std::size_t e = 0; e < collected.episodes.size(); ++e) {
      const Collected::Episode& episode = collected.episodes[e];
      Rng selection(options_.seed, "kept-increments", static_cast<std::uint64_t>(state_.iteration),
                    e);
      std::vector<std::size_t> kept;
      for (std::size_t i = 0; i < episode.samples.size(); ++i) {
        if (selection.Uniform() >= own_.keep) continue;
        kept.push_back(i);
        const auto tick = static_cast<std::size_t>(episode.samples.tick[i]);
        targets->push_back(static_cast<float>(own_.baseline == Baseline::kArrivals
                                                  ? episode.against_arrivals[tick]
                                                  : episode.returns[tick]));
      }
      samples->Append(episode.samples, kept);
    }
  }

  // Advantages of the chosen samples, about 1 in size.
  std::vector<double> Advantages(const SequenceSamples& samples, const std::vector<float>& targets,
                                 std::span<const std::size_t> chosen, double* rms) const {
    std::vector<double> advantages;
    for (const std::size_t i : chosen) advantages.push_back(targets[i]);
    if (own_.baseline == Baseline::kCritic) {
      const std::vector<double> values = critic_.Values(samples, chosen);
      for (std::size_t k = 0; k < values.size(); ++k) advantages[k] -= values[k];
    }
    *rms = Normalise(&advantages, own_.baseline == Baseline::kNone);
    return advantages;
  }

  double LearnActor(const SequenceSamples& samples, std::span<const std::size_t> chosen,
                    std::span<const double> coefficients, double learning_rate) {
    // Samples may be drawn twice: they are numbered by their place in `chosen`.
    SequenceSamples own;
    own.Append(samples, chosen);
    return actor_.Step(
        own, EveryIndex(own.size()),
        [&](std::size_t k, std::span<const float> logits, std::span<float> gradient) {
          const double ratio =
              std::exp(LogChance(logits, own.mask_of(k), own.action[k]) - own.log_chance[k]);
          return ActorLoss(logits, own.mask_of(k), own.action[k],
                           coefficients[k] * std::min(ratio, own_.most_ratio), entropy_, gradient);
        },
        learning_rate);
  }

  void LearnCritic(const SequenceSamples& samples, const std::vector<float>& targets,
                   std::span<const std::size_t> chosen, double learning_rate) {
    if (own_.baseline != Baseline::kCritic) return;
    critic_.Step(samples, chosen, ValueLoss({targets.begin(), targets.end()}), learning_rate);
  }

  // On the policy's own increments of this iteration: one step for the actor, a few for the critic.
  void LearnAtOnce(const Collected& collected, IterationReport* report) {
    SequenceSamples samples;
    std::vector<float> targets;
    Gather(collected, &samples, &targets);
    const std::vector<std::size_t> all = EveryIndex(samples.size());
    constexpr int kCriticSteps = 8;
    for (int i = 0; i < kCriticSteps; ++i) {
      LearnCritic(samples, targets, all, report->learning_rate);
    }
    const std::vector<double> advantages = Advantages(samples, targets, all, &report->signal);
    report->gradient_norm = LearnActor(samples, all, advantages, report->learning_rate);
  }

  void LearnFromMemory(const Collected& collected, double done, IterationReport* report) {
    SequenceSamples samples;
    std::vector<float> targets;
    Gather(collected, &samples, &targets);
    memory_.Add(samples, EveryIndex(samples.size()), targets);
    if (memory_.size() == 0) return;

    const bool by_priority = own_.replay == Replay::kPrioritised;
    const double beta = 0.1 + 0.9 * done;
    Rng rng(options_.seed, "replay", static_cast<std::uint64_t>(state_.iteration));
    std::vector<std::size_t> drawn;
    std::vector<double> weights;
    for (int update = 0; update < own_.updates; ++update) {
      memory_.Draw(static_cast<std::size_t>(own_.minibatch), by_priority, beta, &rng, &drawn,
                   &weights);
      std::vector<double> advantages =
          Advantages(memory_.samples(), memory_.targets(), drawn, &report->signal);
      for (std::size_t k = 0; k < drawn.size(); ++k) {
        // DL2's: the error cut at 4 to the power 0.9, here of errors about 1 in size.
        constexpr double kLargest = 4;
        constexpr double kLeast = 0.01;
        memory_.SetPriority(drawn[k],
                            std::pow(std::min(std::abs(advantages[k]) + kLeast, kLargest), 0.9));
        advantages[k] *= weights[k];
      }
      report->gradient_norm =
          LearnActor(memory_.samples(), drawn, advantages, report->learning_rate);
      LearnCritic(memory_.samples(), memory_.targets(), drawn, report->learning_rate);
    }
  }

  ActorCriticOptions own_;
  TrainerOptions options_;
  EpisodeSource episodes_;
  TrainerState state_;
  SequenceLearner actor_;
  SequenceLearner critic_;
  ReplayMemory memory_;
  double entropy_ = 0;
};

ActorCriticOptions Read(const Params& params) {
  ActorCriticOptions own;
  own.collect.rollouts = params.Integer("rollouts");
  own.collect.discount = params.Number("discount");
  own.collect.rollout.reward = params.Text("reward");
  own.collect.rollout.exploration.share = params.Number("exploration");
  const std::string& rules = params.Text("exploration-rules");
  if (rules != "paper" && rules != "code") {
    throw UsageError("exploration-rules must be paper or code, got '{}'", rules);
  }
  own.collect.rollout.exploration.rules =
      rules == "code" ? ExplorationRules::kCode : ExplorationRules::kPaper;
  own.baseline = BaselineNamed(params.Text("baseline"));
  RequireRollouts(own.baseline, own.collect.rollouts);
  const std::string& replay = params.Text("replay");
  if (replay != "prioritised" && replay != "uniform" && replay != "none") {
    throw UsageError("replay must be prioritised, uniform or none, got '{}'", replay);
  }
  own.replay = replay == "none"      ? Replay::kNone
               : replay == "uniform" ? Replay::kUniform
                                     : Replay::kPrioritised;
  own.memory = params.Integer("replay-size");
  own.minibatch = params.Integer("minibatch");
  own.updates = params.Integer("updates");
  own.keep = params.Number("sample-share");
  own.most_ratio = params.Number("max-importance");
  own.entropy = params.Number("entropy");
  own.final_entropy = params.Number("final-entropy");
  own.learning_rate = params.Number("learning-rate");
  own.final_learning_rate = params.Number("final-learning-rate");
  return own;
}

ALLOT_REGISTER(
    TrainerInfo,
    (TrainerInfo{
        "actor-critic",
        "DL2's method: actor-critic on increments, replay, entropy, job-aware exploration",
        {"sequence"},
        {{"rollouts", "8", "rollouts of each workload (equal arrivals)", 1, 10000},
         {"baseline", "critic", "critic, arrivals (mean of the other rollouts) or none"},
         {"reward", "jct", "see 'allot list rewards'; DL2's: progress"},
         {"discount", "1", "of rewards, per interval; 0: only the decision's own reward", 0, 1},
         {"replay", "prioritised", "prioritised, uniform or none (this iteration's, once)"},
         {"replay-size", "8192", "increments in the replay memory", 1, 100000000},
         {"minibatch", "256", "increments per gradient step", 1, 1000000},
         {"updates", "32", "gradient steps per iteration", 1, 100000},
         {"sample-share", "0.5", "share of increments that are learned from", 1e-6, 1},
         {"max-importance", "2", "largest importance weight (present / past probability)", 1e-6,
          1e6},
         {"exploration", "0.4", "share of choices in which job-aware exploration may act", 0, 1},
         {"exploration-rules", "paper",
          "as in DL2's paper, or as in its published code: paper or code"},
         {"entropy", "0.1", "weight of the entropy bonus, in the first iteration", 0, 100},
         {"final-entropy", "0.001", "weight of the entropy bonus, in the last iteration", 0, 100},
         {"learning-rate", "0.003", "of Adam, in the first iteration", 1e-9, 10},
         {"final-learning-rate", "0.0006", "of Adam, in the last iteration", 1e-9, 10}},
        [](const Params& params, TrainerOptions options, EpisodeSource episodes,
           TrainerState state) -> std::unique_ptr<Trainer> {
          return std::make_unique<ActorCriticTrainer>(Read(params), std::move(options),
                                                      std::move(episodes), std::move(state));
        }}));

}  // namespace
}  // namespace allot
