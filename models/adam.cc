#include "models/adam.h"

#include <cmath>

#include "core/check.h"
#include "core/error.h"

namespace allot {
namespace {

double Norm(const TensorMap& tensors) {
  double sum = 0;
  for (const auto& [name, tensor] : tensors) {
    for (const float value : tensor.data) sum += static_cast<double>(value) * value;
  }
  return std::sqrt(sum);
}

}  // namespace

double AdamStep(const TensorMap& gradient, double learning_rate, const AdamOptions& options,
                TensorMap* weights, AdamState* state) {
  const double norm = Norm(gradient);
  if (!std::isfinite(norm)) {
    throw RunError("the gradient's norm must be finite, got {} at optimiser step {}", norm,
                   state->step + 1);
  }
  if (state->step == 0) {
    state->exp_avg = ZerosLike(*weights);
    state->exp_avg_sq = ZerosLike(*weights);
  }
  ++state->step;

  const bool clip = options.max_gradient_norm > 0 && norm > options.max_gradient_norm;
  const auto scale = static_cast<float>(clip ? options.max_gradient_norm / norm : 1.0);
  const auto beta1 = static_cast<float>(options.beta1);
  const auto beta2 = static_cast<float>(options.beta2);
  const auto epsilon = static_cast<float>(options.epsilon);
  const auto step = static_cast<double>(state->step);
  const auto step_size = static_cast<float>(learning_rate / (1.0 - std::pow(options.beta1, step)));
  const auto root_correction =
      static_cast<float>(1.0 / std::sqrt(1.0 - std::pow(options.beta2, step)));

  ALLOT_CHECK_EQ(gradient.size(), weights->size());
  for (auto& [name, weight] : *weights) {
    const Tensor& g = gradient.at(name);
    Tensor& m = state->exp_avg.at(name);
    Tensor& v = state->exp_avg_sq.at(name);
    ALLOT_CHECK_EQ(g.data.size(), weight.data.size());
    for (std::size_t i = 0; i < weight.data.size(); ++i) {
      const float value = scale * g.data[i];
      m.data[i] = beta1 * m.data[i] + (1.0F - beta1) * value;
      v.data[i] = beta2 * v.data[i] + (1.0F - beta2) * value * value;
      weight.data[i] -= step_size * m.data[i] / (std::sqrt(v.data[i]) * root_correction + epsilon);
    }
  }
  return norm;
}

}  // namespace allot
