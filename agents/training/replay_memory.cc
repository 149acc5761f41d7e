#include "agents/training/replay_memory.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.h"

namespace allot {
namespace {

template <typename T>
Tensor Pack(const std::vector<T>& values) {
  Tensor tensor{{static_cast<std::int64_t>(values.size())}, {}};
  tensor.data.reserve(values.size());
  for (const T value : values) tensor.data.push_back(static_cast<float>(value));
  return tensor;
}

template <typename T>
void Unpack(const TensorMap& memory, const std::string& name, std::vector<T>* values) {
  const auto found = memory.find("replay." + name);
  if (found == memory.end()) throw DataError("memory of the trainer: no tensor 'replay.{}'", name);
  values->clear();
  values->reserve(found->second.data.size());
  for (const float value : found->second.data) values->push_back(static_cast<T>(value));
}

// Sizes travel as numbers of their own: a float holds none beyond 2^24.
std::vector<std::int64_t> Differences(const std::vector<std::int64_t>& firsts) {
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i + 1 < firsts.size(); ++i) sizes.push_back(firsts[i + 1] - firsts[i]);
  return sizes;
}

std::vector<std::int64_t> Sums(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> firsts{0};
  for (const std::int64_t size : sizes) firsts.push_back(firsts.back() + size);
  return firsts;
}

}  // namespace

void ReplayMemory::Add(const SequenceSamples& samples, std::span<const std::size_t> chosen,
                       std::span<const float> targets) {
  float priority = 1;
  for (const float known : priorities_) priority = std::max(priority, known);
  samples_.Append(samples, chosen);
  targets_.insert(targets_.end(), targets.begin(), targets.end());
  priorities_.resize(targets_.size(), priority);
  if (samples_.size() <= capacity_) return;
  const std::size_t surplus = samples_.size() - capacity_;
  samples_.DropFirst(surplus);
  targets_.erase(targets_.begin(), targets_.begin() + static_cast<std::ptrdiff_t>(surplus));
  priorities_.erase(priorities_.begin(),
                    priorities_.begin() + static_cast<std::ptrdiff_t>(surplus));
}

void ReplayMemory::Draw(std::size_t count, bool by_priority, double beta, Rng* rng,
                        std::vector<std::size_t>* drawn, std::vector<double>* weights) const {
  drawn->clear();
  weights->assign(count, 1.0);
  if (!by_priority) {
    for (std::size_t i = 0; i < count; ++i) drawn->push_back(rng->Below(size()));
    return;
  }
  std::vector<double> sums;
  double total = 0;
  for (const float priority : priorities_) sums.push_back(total += priority);
  for (std::size_t i = 0; i < count; ++i) {
    // One from each of `count` equal parts of the total.
    const double at =
        total * (static_cast<double>(i) + rng->Uniform()) / static_cast<double>(count);
    const auto found = std::upper_bound(sums.begin(), sums.end(), at);
    const auto index =
        std::min(static_cast<std::size_t>(found - sums.begin()), priorities_.size() - 1);
    drawn->push_back(index);
    (*weights)[i] = std::pow(static_cast<double>(priorities_[index]), -beta);
  }
  double sum = 0;
  for (const double weight : *weights) sum += weight;
  for (double& weight : *weights) weight *= static_cast<double>(count) / sum;
}

void ReplayMemory::Save(TensorMap* memory) const {
  if (size() == 0) return;
  const auto keep = [&](const std::string& name, Tensor tensor) {
    (*memory)["replay." + name] = std::move(tensor);
  };
  keep("jobs", Pack(samples_.jobs));
  keep("contexts", Pack(samples_.contexts));
  keep("rows", Pack(Differences(samples_.first_row)));
  keep("actions", Pack(Differences(samples_.first_action)));
  keep("mask", Pack(samples_.mask));
  keep("action", Pack(samples_.action));
  keep("log_chance", Pack(samples_.log_chance));
  keep("tick", Pack(samples_.tick));
  keep("head", Pack(samples_.head));
  keep("targets", Pack(targets_));
  keep("priorities", Pack(priorities_));
}

void ReplayMemory::Load(const TensorMap& memory) {
  if (memory.find("replay.targets") == memory.end()) return;
  std::vector<std::int64_t> sizes;
  Unpack(memory, "jobs", &samples_.jobs);
  Unpack(memory, "contexts", &samples_.contexts);
  Unpack(memory, "rows", &sizes);
  samples_.first_row = Sums(sizes);
  Unpack(memory, "actions", &sizes);
  samples_.first_action = Sums(sizes);
  Unpack(memory, "mask", &samples_.mask);
  Unpack(memory, "action", &samples_.action);
  Unpack(memory, "log_chance", &samples_.log_chance);
  Unpack(memory, "tick", &samples_.tick);
  Unpack(memory, "head", &samples_.head);
  Unpack(memory, "targets", &targets_);
  Unpack(memory, "priorities", &priorities_);
}

}  // namespace allot
