#pragma once
// Adam (Kingma & Ba, ICLR 2015, algorithm 1) over tensors by name.
//
// libtorch has Adam too, but keys its state by the address of a parameter: neither the bytes of a
// checkpoint nor a resume in another process could then be reproduced. A test compares this one
// with libtorch's numbers.

#include <cstdint>

#include "models/tensor.h"

namespace allot {

struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.99;
  double epsilon = 1e-8;
  double max_gradient_norm = 0;  // over all tensors together; 0: no clipping
};

struct AdamState {
  std::int64_t step = 0;
  TensorMap exp_avg;     // first moment; empty before the first step
  TensorMap exp_avg_sq;  // second moment
  bool operator==(const AdamState&) const = default;
};

// One descent step on `weights`. A gradient that is not finite is a RunError that names the step,
// and leaves weights and state as they were. Returns the gradient's norm before clipping.
double AdamStep(const TensorMap& gradient, double learning_rate, const AdamOptions& options,
                TensorMap* weights, AdamState* state);

}  // namespace allot
