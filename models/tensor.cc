#include "models/tensor.h"

#include <fmt/ranges.h>

#include <numeric>
#include <utility>

#include "core/check.h"
#include "core/error.h"

namespace allot {

Tensor ZeroTensor(TensorShape shape) {
  const auto count =
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  ALLOT_CHECK_GE(count, 0);
  return {std::move(shape), std::vector<float>(static_cast<std::size_t>(count), 0.0F)};
}

TensorMap ZerosLike(const TensorMap& tensors) {
  TensorMap zeros;
  for (const auto& [name, tensor] : tensors) zeros.emplace(name, ZeroTensor(tensor.shape));
  return zeros;
}

void AddScaled(TensorMap* sum, const TensorMap& term, float scale) {
  ALLOT_CHECK_EQ(sum->size(), term.size());
  for (auto& [name, tensor] : *sum) {
    const auto found = term.find(name);
    ALLOT_CHECK(found != term.end());
    ALLOT_CHECK(found->second.shape == tensor.shape);
    for (std::size_t i = 0; i < tensor.data.size(); ++i) {
      tensor.data[i] += scale * found->second.data[i];
    }
  }
}

std::string ShapeText(const TensorShape& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

void RequireSameLayout(const TensorMap& tensors, const TensorMap& expected,
                       const std::string& origin) {
  for (const auto& [name, tensor] : expected) {
    const auto found = tensors.find(name);
    if (found == tensors.end()) {
      throw DataError("{}: tensor '{}' {} is missing", origin, name, ShapeText(tensor.shape));
    }
    if (found->second.shape != tensor.shape) {
      throw DataError("{}: tensor '{}' must have shape {}, got {}", origin, name,
                      ShapeText(tensor.shape), ShapeText(found->second.shape));
    }
  }
  for (const auto& [name, tensor] : tensors) {
    if (!expected.contains(name)) {
      throw DataError("{}: tensor '{}' {} belongs to no parameter of this network", origin, name,
                      ShapeText(tensor.shape));
    }
  }
}

}  // namespace allot
