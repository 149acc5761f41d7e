#pragma once
// The training loop that the examples share: data-parallel SGD with momentum on batches that are
// made from the step's number, so that any number of workers sees the same data. The example gives
// the network and the batches.

#include <torch/torch.h>

#include <cstdint>
#include <functional>

namespace allot {

struct Batch {
  torch::Tensor input;
  torch::Tensor target;
};

struct Example {
  torch::nn::Sequential network;
  std::function<Batch(std::int64_t step, std::int64_t samples)> batch;
  std::function<torch::Tensor(const torch::Tensor& output, const torch::Tensor& target)> loss;
};

// Options: --steps N, --batch N (of all workers together), --rate X, --pace-ms N (at least so long
// a step). Returns the program's exit code.
int TrainElastic(int argc, char** argv, Example example);

}  // namespace allot
