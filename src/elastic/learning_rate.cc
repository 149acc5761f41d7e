#include "elastic/learning_rate.h"

#include <cmath>
#include <string>
#include <utility>

#include "core/error.h"

namespace allot {

LearningRateRule ParseLearningRateRule(std::string_view name) {
  constexpr std::pair<std::string_view, LearningRateRule> kRules[] = {
      {"constant", LearningRateRule::kConstant},
      {"linear", LearningRateRule::kLinear},
      {"square-root", LearningRateRule::kSquareRoot},
      {"adascale", LearningRateRule::kAdaScale}};
  for (const auto& [known, rule] : kRules) {
    if (known == name) return rule;
  }
  throw UsageError(
      "a learning rate follows the batch by 'constant', 'linear', 'square-root' or 'adascale', got "
      "'{}'",
      name);
}

double GainOf(double noise_scale, double initial_batch, double batch) {
  if (!(noise_scale >= 0)) return 1;
  return (noise_scale + initial_batch) / (noise_scale * initial_batch / batch + initial_batch);
}

double LearningRateFactor(LearningRateRule rule, double noise_scale, double initial_batch,
                          double batch) {
  switch (rule) {
    case LearningRateRule::kConstant:
      return 1;
    case LearningRateRule::kLinear:
      return batch / initial_batch;
    case LearningRateRule::kSquareRoot:
      return std::sqrt(batch / initial_batch);
    case LearningRateRule::kAdaScale:
      return GainOf(noise_scale, initial_batch, batch);
  }
  return 1;
}

}  // namespace allot
