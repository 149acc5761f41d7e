#pragma once
// The weights of some network: which architecture (`kind`), what its layout follows from (`sizes`)
// and its tensors by name. The form in which checkpoints, optimiser and trainers hold any network;
// the architectures (models/*_net.h) read their own sizes out of it and hold the tensors to them.

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

// sizes[key], a whole number in [1, 4096]; DataError that opens with `origin` otherwise.
int SizeOf(const NetWeights& weights, const char* key, const std::string& origin);

}  // namespace allot
