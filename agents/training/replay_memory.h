#pragma once
// The most recent increments of past episodes, from which a trainer draws: uniformly, or by
// priority (Schaul et al., arXiv 1511.05952: the error of an increment when it was last used).
// Saved and read back, it continues with the same draws, bit for bit.

#include <span>
#include <vector>

#include "agents/training/sequence_rollout.h"
#include "core/rng.h"
#include "models/tensor.h"

namespace allot {

class ReplayMemory {
 public:
  explicit ReplayMemory(std::size_t capacity) : capacity_(capacity) {}

  // `targets`: what came of each sample. New ones have the largest priority so far, at least 1.
  void Add(const SequenceSamples& samples, std::span<const std::size_t> chosen,
           std::span<const float> targets);
  std::size_t size() const { return samples_.size(); }
  const SequenceSamples& samples() const { return samples_; }
  const std::vector<float>& targets() const { return targets_; }

  // `count` draws with replacement; `weights`, of mean 1, undo the preference: as P^-beta.
  void Draw(std::size_t count, bool by_priority, double beta, Rng* rng,
            std::vector<std::size_t>* drawn, std::vector<double>* weights) const;
  void SetPriority(std::size_t sample, double priority) {
    priorities_[sample] = static_cast<float>(priority);
  }

  void Save(TensorMap* memory) const;
  void Load(const TensorMap& memory);  // empty where the map holds none

 private:
  std::size_t capacity_;
  SequenceSamples samples_;
  std::vector<float> targets_;
  std::vector<float> priorities_;
};

}  // namespace allot
