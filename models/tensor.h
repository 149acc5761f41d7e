#pragma once
// Float arrays by name: the form in which weights, gradients and optimiser moments are passed
// between the networks, the optimiser, libtorch and checkpoint files. Sorted by name, so that every
// loop over them (sums, files, norms) has the same order.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace allot {

using TensorShape = std::vector<std::int64_t>;

struct Tensor {
  TensorShape shape;
  std::vector<float> data;  // row-major, as many values as the product of `shape`
  bool operator==(const Tensor&) const = default;
};

using TensorMap = std::map<std::string, Tensor, std::less<>>;

Tensor ZeroTensor(TensorShape shape);
TensorMap ZerosLike(const TensorMap& tensors);

// sum += scale * term. Both hold the same names and shapes.
void AddScaled(TensorMap* sum, const TensorMap& term, float scale = 1.0F);

// "[16, 40]"
std::string ShapeText(const TensorShape& shape);

// The rule behind every load: exactly the names and shapes of `expected`. `origin` (a file) opens
// the DataError, which names the tensor and both shapes.
void RequireSameLayout(const TensorMap& tensors, const TensorMap& expected,
                       const std::string& origin);

}  // namespace allot
