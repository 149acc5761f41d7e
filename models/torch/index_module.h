#pragma once
// The index network in libtorch: the same parameters under the same names as models/index_net, with
// gradients by autograd. Trainers call it; no torch type appears here, so that only its own .cc
// pays for torch's headers. ConfigureTorch() comes first.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "models/index_net.h"
#include "models/tensor.h"

namespace allot {

// N jobs of D decisions (any number of jobs each, in any order), by reference.
struct IndexBatch {
  std::span<const float> jobs;                    // [N, F]
  std::span<const float> contexts;                // [D, C]
  std::span<const std::int64_t> decision_of_job;  // [N], in [0, D)
};

// Given the outputs [N, O], returns the loss and fills dLoss/dOutput (same layout, zero on entry).
// All that makes a loss special (sampling, ranks, masks) stays in plain C++ on the caller's side.
using OutputLoss = std::function<double(std::span<const float> outputs, std::span<float> gradient)>;

// loss = -sum(coefficients * outputs): the policy-gradient surrogate, once advantage times
// d log-probability / d output is known.
OutputLoss LinearSurrogate(std::span<const float> coefficients);

struct Gradient {
  double loss = 0;
  TensorMap tensors;  // dLoss/dParameter by parameter name
};

class IndexModule {
 public:
  explicit IndexModule(const IndexNetWeights& weights);
  ~IndexModule();
  IndexModule(IndexModule&&) noexcept;
  IndexModule& operator=(IndexModule&&) noexcept;

  IndexNetWeights weights() const;
  void SetWeights(const IndexNetWeights& weights);  // of the same shape

  std::vector<float> Forward(const IndexBatch& batch) const;  // [N, O]

  // Callable from several threads at once: each call differentiates with respect to leaves of its
  // own and accumulates nowhere. The result depends on its arguments only; summing the gradients of
  // several batches in a fixed order keeps a training step independent of the number of threads.
  Gradient ComputeGradient(const IndexBatch& batch, const OutputLoss& loss) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot
