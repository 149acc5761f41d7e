#pragma once
// What trainers of sequence networks share: episodes of one iteration with their returns, and a
// network that takes gradient steps on samples. Results do not depend on the number of threads.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agents/training/sequence_rollout.h"
#include "agents/training/trainer.h"
#include "models/adam.h"

namespace allot {

enum class Baseline { kCritic, kArrivals, kNone };
Baseline BaselineNamed(const std::string& name);  // "critic", "arrivals" or "none"

void RequireRollouts(Baseline baseline, int rollouts);  // UsageError: arrivals needs two

struct CollectOptions {
  SequenceRolloutOptions rollout;
  int rollouts = 8;     // of each workload
  double discount = 1;  // per interval
};

// Rollouts of an iteration, in units of the teacher's total reward on the same arrivals.
struct Collected {
  struct Episode {
    SequenceSamples samples;
    std::vector<double> rewards;  // by tick
    std::vector<double> returns;  // by tick
    // returns - mean of the other rollouts of the same arrivals; empty with one rollout.
    std::vector<double> against_arrivals;
  };
  std::vector<Episode> episodes;
  double ratio_to_teacher = 0;
};
Collected Collect(const CollectOptions& options, const TrainerOptions& trainer,
                  const EpisodeSource& episodes, const NetWeights& weights, std::int64_t iteration);

// Divides by the root mean square (first taking off the mean where `centred`), which it returns.
double Normalise(std::vector<double>* values, bool centred);

// Loss of one sample: from its logits, with its gradient by them (zero on entry).
using SampleLoss =
    std::function<double(std::size_t sample, std::span<const float> logits, std::span<float>)>;

// - coefficient ln P(action) - entropy x H, and its gradient by the logits.
double ActorLoss(std::span<const float> logits, std::span<const std::uint8_t> mask,
                 std::int32_t action, double coefficient, double entropy,
                 std::span<float> gradient);
double LogChance(std::span<const float> logits, std::span<const std::uint8_t> mask,
                 std::int32_t action);

// (value - target)^2, the value being the logit of "done".
SampleLoss ValueLoss(std::vector<double> targets);

// A network in training. A critic is the same network, whose value is the logit of "done".
class SequenceLearner {
 public:
  SequenceLearner(NetWeights weights, AdamState adam, AdamOptions options, int threads);
  ~SequenceLearner();

  // One step on the mean loss over `chosen` samples; returns the gradient's norm.
  double Step(const SequenceSamples& samples, std::span<const std::size_t> chosen,
              const SampleLoss& loss, double learning_rate);
  std::vector<double> Values(const SequenceSamples& samples,
                             std::span<const std::size_t> chosen) const;

  const NetWeights& weights() const;
  const AdamState& adam() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A critic inside a trainer's memory, and back. Made afresh when the memory holds none.
void Remember(const SequenceLearner& critic, TensorMap* memory);
SequenceLearner CriticFrom(const TensorMap& memory, const NetWeights& actor, AdamOptions options,
                           std::uint64_t seed, int threads);

std::vector<std::size_t> EveryIndex(std::size_t count);  // 0, 1, ...
std::vector<std::size_t> ShuffledIndices(std::size_t count, Rng rng);

}  // namespace allot
