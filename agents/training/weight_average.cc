#include "agents/training/weight_average.h"

#include <algorithm>

#include "core/error.h"

namespace allot {
namespace {

constexpr const char* kLast = "last.";  // of the names in memory

}  // namespace

NetWeights LastWeights(const TrainerState& state) {
  NetWeights weights = state.weights;
  for (auto& [name, tensor] : weights.tensors) {
    const auto last = state.memory.find(kLast + name);
    if (last != state.memory.end()) tensor = last->second;
  }
  return weights;
}

void AverageWeights(const NetWeights& last, double decay, TrainerState* state) {
  if (decay == 0) {
    state->weights = last;
    return;
  }
  // A start that is far off is soon forgotten.
  constexpr double kYoung = 10;  // iterations
  const auto iterations = static_cast<double>(state->iteration + 1);
  const double kept = std::min(decay, iterations / (iterations + kYoung));
  for (auto& [name, tensor] : state->weights.tensors) {
    const Tensor& now = last.tensors.at(name);
    for (std::size_t i = 0; i < now.data.size(); ++i) {
      tensor.data[i] += static_cast<float>((1 - kept) * (now.data[i] - tensor.data[i]));
    }
    state->memory[kLast + name] = now;
  }
}

void CheckAverageBegun(const TrainerState& state, double decay) {
  if (state.iteration == 0) return;
  const bool begun = state.memory.contains(kLast + state.weights.tensors.begin()->first);
  if (begun == (decay > 0)) return;
  throw UsageError("the run was begun with average-decay {} 0, now it is {}: resume with the same",
                   begun ? ">" : "=", decay);
}

}  // namespace allot
