#pragma once
// An index network in training: the libtorch module for gradients, Adam for steps, and nothing of
// how a loss comes about. weights() and adam() are all that a checkpoint needs; a trainer made from
// them continues bit for bit.

#include "models/adam.h"
#include "models/index_net.h"
#include "models/torch/index_module.h"

namespace allot {

class IndexTrainer {
 public:
  explicit IndexTrainer(IndexNetWeights weights, AdamOptions options = {}, AdamState adam = {});

  // Const and callable from several threads at once, but not during Step.
  Gradient ComputeGradient(const IndexBatch& batch, const OutputLoss& loss) const {
    return module_.ComputeGradient(batch, loss);
  }

  // One Adam step; returns the gradient's norm. RunError when the gradient is not finite.
  double Step(const TensorMap& gradient, double learning_rate);

  const IndexNetWeights& weights() const { return weights_; }
  const AdamState& adam() const { return adam_; }

 private:
  IndexNetWeights weights_;
  IndexModule module_;
  AdamOptions options_;
  AdamState adam_;
};

}  // namespace allot
