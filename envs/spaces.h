#pragma once
// Observation and action spaces, as plain data: named, typed, shaped and bounded tensors that exist
// before any environment does (after EnvPool's specs). Bounds are finite, as Minari and SB3 need.

#include <cstdint>
#include <string>
#include <vector>

namespace allot {

struct TensorSpec {
  std::string name;
  std::string dtype;                // "float32", "uint8", "int64"
  std::vector<std::int64_t> shape;  // empty: one number
  double low = 0;
  double high = 0;

  std::int64_t elements() const {
    std::int64_t product = 1;
    for (const std::int64_t n : shape) product *= n;
    return product;
  }
};

// Gymnasium's spaces of actions. The bounds of the tensor say the rest: a Discrete is 0 .. high, a
// MultiDiscrete as many of these as its shape says.
enum class ActionKind { kBox, kDiscrete, kMultiDiscrete };

struct EnvSpec {
  std::string id;                       // "allot/GpuCluster-v0"
  std::vector<TensorSpec> observation;  // a Dict space, in this order
  TensorSpec action;
  ActionKind action_kind = ActionKind::kBox;
};

}  // namespace allot
