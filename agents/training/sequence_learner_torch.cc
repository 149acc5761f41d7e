#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "agents/training/rollout.h"
#include "agents/training/sequence_learner.h"
#include "core/check.h"
#include "core/error.h"
#include "core/index.h"
#include "core/parallel.h"
#include "models/torch/sequence_module.h"

namespace allot {
namespace {

// Samples per gradient: fixed, so that sums are added in the same order on any number of threads.
constexpr std::size_t kChunk = 2048;

constexpr std::string_view kCritic = "critic.";
constexpr std::string_view kFirstMoment = ".exp_avg";
constexpr std::string_view kSecondMoment = ".exp_avg_sq";
constexpr const char* kCriticSteps = "critic_steps";

SequenceBatch BatchOf(const SequenceSamples& samples) {
  return {samples.jobs, samples.contexts, samples.first_row};
}

double TeachersTotal(const std::shared_ptr<const Scenario>& scenario, Policy& teacher,
                     const SequenceRolloutOptions& options) {
  RolloutOptions same;
  same.max_decisions = options.max_decisions;
  same.reward = options.reward;
  return EpisodeReward(scenario, teacher, same);
}

}  // namespace

Baseline BaselineNamed(const std::string& name) {
  if (name == "critic") return Baseline::kCritic;
  if (name == "arrivals") return Baseline::kArrivals;
  if (name == "none") return Baseline::kNone;
  throw UsageError("baseline must be critic, arrivals or none, got '{}'", name);
}

void RequireRollouts(Baseline baseline, int rollouts) {
  if (baseline == Baseline::kArrivals && rollouts < 2) {
    throw UsageError("baseline=arrivals needs rollouts >= 2, got {}", rollouts);
  }
}

Collected Collect(const CollectOptions& options, const TrainerOptions& trainer,
                  const EpisodeSource& episodes, const NetWeights& weights,
                  std::int64_t iteration) {
  const auto workloads = static_cast<std::size_t>(trainer.workloads);
  const auto rollouts = static_cast<std::size_t>(options.rollouts);
  const auto it = static_cast<std::uint64_t>(iteration);
  const std::shared_ptr<const SequenceNet> net = MakeSequenceNet(weights);
  std::vector<std::shared_ptr<const Scenario>> scenarios(workloads);
  std::vector<double> teacher(workloads);
  ParallelFor(workloads, trainer.threads, [&](std::size_t w) {
    const std::uint64_t seed = Rng(trainer.seed, "training-episode", it, w).NextU64();
    scenarios[w] = episodes(seed);
    teacher[w] = TeachersTotal(scenarios[w], *trainer.WorldOf(seed).teacher(), options.rollout);
  });
  Collected collected;
  collected.episodes.resize(workloads * rollouts);
  std::vector<double> ratios(collected.episodes.size());
  ParallelFor(ratios.size(), trainer.threads, [&](std::size_t i) {
    SequenceRollout rollout = RunSequenceRollout(scenarios[i / rollouts], weights, net,
                                                 options.rollout, trainer.seed, it, i);
    ratios[i] = rollout.total_reward / teacher[i / rollouts];
    Collected::Episode& episode = collected.episodes[i];
    episode.samples = std::move(rollout.samples);
    episode.rewards = std::move(rollout.reward_of_tick);
    for (double& r : episode.rewards) r /= std::max(1e-9, std::abs(teacher[i / rollouts]));
    episode.returns = ReturnsFrom(episode.rewards, options.discount);
  });
  for (const double ratio : ratios) {
    collected.ratio_to_teacher += ratio / static_cast<double>(ratios.size());
  }
  for (std::size_t w = 0; rollouts > 1 && w < workloads; ++w) {
    std::vector<std::vector<double>> returns;
    for (std::size_t k = 0; k < rollouts; ++k) {
      returns.push_back(collected.episodes[w * rollouts + k].returns);
    }
    auto advantages = LeaveOneOutAdvantages(returns);
    for (std::size_t k = 0; k < rollouts; ++k) {
      collected.episodes[w * rollouts + k].against_arrivals = std::move(advantages[k]);
    }
  }
  return collected;
}

double Normalise(std::vector<double>* values, bool centred) {
  const double count = static_cast<double>(std::max<std::size_t>(1, values->size()));
  const double mean = centred ? std::accumulate(values->begin(), values->end(), 0.0) / count : 0.0;
  double squares = 0;
  for (double& value : *values) {
    value -= mean;
    squares += value * value;
  }
  const double rms = std::sqrt(squares / count);
  for (double& value : *values) value /= std::max(rms, 1e-12);
  return rms;
}

double ActorLoss(std::span<const float> logits, std::span<const std::uint8_t> mask,
                 std::int32_t action, double coefficient, double entropy,
                 std::span<float> gradient) {
  thread_local std::vector<double> chances;
  MaskedSoftmax(logits, mask, &chances);
  double h = 0;
  for (const double p : chances) h -= p > 0 ? p * std::log(p) : 0;
  for (std::size_t a = 0; a < chances.size(); ++a) {
    const double p = chances[a];
    if (p <= 0) continue;
    const double taken = a == At(action) ? 1 : 0;
    gradient[a] = static_cast<float>(-coefficient * (taken - p) + entropy * p * (std::log(p) + h));
  }
  return -coefficient * std::log(std::max(chances[At(action)], 1e-300)) - entropy * h;
}

double LogChance(std::span<const float> logits, std::span<const std::uint8_t> mask,
                 std::int32_t action) {
  thread_local std::vector<double> chances;
  MaskedSoftmax(logits, mask, &chances);
  return std::log(std::max(chances[At(action)], 1e-300));
}

SampleLoss ValueLoss(std::vector<double> targets) {
  return [targets = std::move(targets)](std::size_t i, std::span<const float> logits,
                                        std::span<float> gradient) {
    const double error = logits.back() - targets[i];
    gradient.back() = static_cast<float>(2 * error);
    return error * error;
  };
}

struct SequenceLearner::Impl {
  NetWeights weights;
  AdamState adam;
  AdamOptions options;
  int threads;
  SequenceModule module;

  // Calls body(chunk number, its samples) for each chunk of `chosen`, in parallel.
  template <typename Body>
  void ForChunks(const SequenceSamples& samples, std::span<const std::size_t> chosen,
                 const Body& body) const {
    ParallelFor((chosen.size() + kChunk - 1) / kChunk, threads, [&](std::size_t c) {
      const auto part = chosen.subspan(c * kChunk, std::min(kChunk, chosen.size() - c * kChunk));
      SequenceSamples own;
      own.Append(samples, part);
      body(c, own, part);
    });
  }
};

SequenceLearner::SequenceLearner(NetWeights weights, AdamState adam, AdamOptions options,
                                 int threads)
    : impl_(new Impl{weights, std::move(adam), options, threads, SequenceModule(weights)}) {}

SequenceLearner::~SequenceLearner() = default;

const NetWeights& SequenceLearner::weights() const { return impl_->weights; }
const AdamState& SequenceLearner::adam() const { return impl_->adam; }

double SequenceLearner::Step(const SequenceSamples& samples, std::span<const std::size_t> chosen,
                             const SampleLoss& loss, double learning_rate) {
  if (chosen.empty()) return 0;
  std::vector<Gradient> gradients((chosen.size() + kChunk - 1) / kChunk);
  const auto scale = 1.0F / static_cast<float>(chosen.size());
  impl_->ForChunks(samples, chosen, [&](std::size_t c, const SequenceSamples& own, auto part) {
    gradients[c] = impl_->module.ComputeGradient(
        BatchOf(own), [&](std::span<const float> logits, std::span<float> gradient) {
          double sum = 0;
          for (std::size_t i = 0; i < part.size(); ++i) {
            const auto begin = static_cast<std::size_t>(own.first_action[i]);
            const auto count = static_cast<std::size_t>(own.first_action[i + 1]) - begin;
            sum += loss(part[i], logits.subspan(begin, count), gradient.subspan(begin, count));
          }
          for (float& g : gradient) g *= scale;
          return sum;
        });
  });
  TensorMap total = std::move(gradients.front().tensors);
  for (std::size_t c = 1; c < gradients.size(); ++c) AddScaled(&total, gradients[c].tensors);
  const double norm =
      AdamStep(total, learning_rate, impl_->options, &impl_->weights.tensors, &impl_->adam);
  impl_->module.SetWeights(impl_->weights);
  return norm;
}

std::vector<double> SequenceLearner::Values(const SequenceSamples& samples,
                                            std::span<const std::size_t> chosen) const {
  std::vector<double> values(chosen.size());
  impl_->ForChunks(samples, chosen, [&](std::size_t c, const SequenceSamples& own, auto part) {
    const std::vector<float> logits = impl_->module.Forward(BatchOf(own));
    for (std::size_t i = 0; i < part.size(); ++i) {
      values[c * kChunk + i] = logits[static_cast<std::size_t>(own.first_action[i + 1]) - 1];
    }
  });
  return values;
}

void Remember(const SequenceLearner& critic, TensorMap* memory) {
  const std::string prefix(kCritic);
  const auto keep = [&](const TensorMap& tensors, std::string_view suffix) {
    for (const auto& [name, tensor] : tensors) {
      (*memory)[prefix + name + std::string(suffix)] = tensor;
    }
  };
  keep(critic.weights().tensors, "");
  keep(critic.adam().exp_avg, kFirstMoment);
  keep(critic.adam().exp_avg_sq, kSecondMoment);
  (*memory)[kCriticSteps] = {{1}, {static_cast<float>(critic.adam().step)}};
}

SequenceLearner CriticFrom(const TensorMap& memory, const NetWeights& actor, AdamOptions options,
                           std::uint64_t seed, int threads) {
  NetWeights weights = InitLike(actor, Rng(seed, "critic").NextU64());
  AdamState adam;
  const auto steps = memory.find(kCriticSteps);
  if (steps == memory.end()) return {std::move(weights), adam, options, threads};
  const auto tensor = [&](const std::string& name) {
    const auto found = memory.find(name);
    if (found == memory.end()) throw DataError("memory of the trainer: no tensor '{}'", name);
    return found->second;
  };
  adam.step = static_cast<std::int64_t>(steps->second.data.at(0));
  for (auto& [name, value] : weights.tensors) {
    const std::string own = std::string(kCritic) + name;
    value = tensor(own);
    if (adam.step == 0) continue;
    adam.exp_avg[name] = tensor(own + std::string(kFirstMoment));
    adam.exp_avg_sq[name] = tensor(own + std::string(kSecondMoment));
  }
  return {std::move(weights), std::move(adam), options, threads};
}

std::vector<std::size_t> EveryIndex(std::size_t count) {
  std::vector<std::size_t> indices(count);
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return indices;
}

std::vector<std::size_t> ShuffledIndices(std::size_t count, Rng rng) {
  std::vector<std::size_t> order = EveryIndex(count);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[rng.Below(i)]);
  return order;
}

}  // namespace allot
