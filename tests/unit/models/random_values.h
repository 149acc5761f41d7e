#pragma once
// Normally distributed values by seed, for the inputs and weights of networks under test.

#include <cstdint>
#include <vector>

#include "core/rng.h"

namespace allot::testing_support {

inline std::vector<float> RandomValues(std::size_t count, std::uint64_t seed,
                                       double deviation = 1.0) {
  Rng rng(seed, "test-values");
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(deviation * rng.Normal());
  return values;
}

}  // namespace allot::testing_support
