#include "models/torch/index_trainer.h"

#include <utility>

namespace allot {

IndexTrainer::IndexTrainer(IndexNetWeights weights, AdamOptions options, AdamState adam)
    : weights_(std::move(weights)), module_(weights_), options_(options), adam_(std::move(adam)) {}

double IndexTrainer::Step(const TensorMap& gradient, double learning_rate) {
  const double norm = AdamStep(gradient, learning_rate, options_, &weights_.tensors, &adam_);
  module_.SetWeights(weights_);
  return norm;
}

}  // namespace allot
