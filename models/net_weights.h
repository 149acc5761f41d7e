#pragma once
// The weights of a network: its architecture (`kind`), the numbers that define its layout (`sizes`)
// and its tensors by name. Checkpoints, optimiser and trainers use this form for any network. The
// architectures (models/*_net.h) read their sizes from it and check the tensors against them.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "models/tensor.h"

namespace allot {

struct NetWeights {
  // By name; a name that is no parameter is a programming error.
  Tensor& operator[](std::string_view name);
  const Tensor& operator[](std::string_view name) const;
  bool operator==(const NetWeights&) const = default;

  std::string kind;
  nlohmann::json sizes = nlohmann::json::object();
  TensorMap tensors;
};

// Some networks have parts of their own for worlds: tensors named NAME@WORLD. What is learned in an
// episode of another world says nothing of them.
std::string OwnTensor(std::string_view name, std::string_view world);  // "NAME@WORLD"
std::string_view WorldOfTensor(std::string_view name);                 // "": of no single world

// sizes[key], a whole number in [1, 4096]; DataError that opens with `origin` otherwise.
int SizeOf(const NetWeights& weights, const char* key, const std::string& origin);

}  // namespace allot
