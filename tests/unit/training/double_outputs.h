#pragma once
// What an index network says of one decision, in double and with one weight moved: for central
// differences.

#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "features/encoder.h"
#include "features/index_action.h"
#include "models/index_net.h"

namespace allot {

// Of every row. Element `at` of the tensor `moved` counts as its value + `by`.
inline std::vector<std::array<double, kIndexOutputs>> DoubleOutputs(const IndexNetWeights& w,
                                                                    const std::string& moved,
                                                                    std::size_t at, double by,
                                                                    const FeatureBatch& features) {
  const auto value = [&](std::string_view name, std::size_t i) {
    return static_cast<double>(w[name].data[i]) + (name == moved && i == at ? by : 0.0);
  };
  // Row `unit` of a matrix with n columns, times x.
  const auto product = [&](std::string_view name, std::size_t unit, const float* x, std::size_t n) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += value(name, unit * n + i) * x[i];
    return sum;
  };
  const auto inputs = static_cast<std::size_t>(w.shape.job_features);
  const float* const context = features.context.data();
  std::vector<std::array<double, kIndexOutputs>> outputs;
  for (std::size_t row = 0; row * inputs < features.jobs.size(); ++row) {
    const float* const x = &features.jobs[row * inputs];
    std::vector<double> h;
    for (std::size_t k = 0; k < static_cast<std::size_t>(w.shape.hidden); ++k) {
      h.push_back(std::tanh(
          value(index_net::kHiddenBias, k) + product(index_net::kHiddenJob, k, x, inputs) +
          product(index_net::kHiddenContext, k, context, features.context.size())));
    }
    std::array<double, kIndexOutputs> out{};
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = value(index_net::kOutBias, i) + product(index_net::kOutJob, i, x, inputs) +
               product(index_net::kOutContext, i, context, features.context.size());
      for (std::size_t k = 0; k < h.size(); ++k) {
        out[i] += value(index_net::kOutHidden, i * h.size() + k) * h[k];
      }
    }
    outputs.push_back(out);
  }
  return outputs;
}

}  // namespace allot
