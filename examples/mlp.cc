// A two-layer perceptron learns what a fixed random one computes.

#include <ATen/CPUGeneratorImpl.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <utility>

#include "examples/train.h"

int main(int argc, char** argv) {
  constexpr int kInputs = 64;
  constexpr int kHidden = 128;
  torch::manual_seed(1);
  torch::nn::Sequential network(torch::nn::Linear(kInputs, kHidden), torch::nn::ReLU(),
                                torch::nn::Linear(kHidden, kHidden), torch::nn::ReLU(),
                                torch::nn::Linear(kHidden, 1));
  auto generator = torch::make_generator<at::CPUGeneratorImpl>(7);
  const torch::Tensor teacher = torch::randn({kInputs, 1}, generator) / 8;

  allot::Example example;
  example.parameters = network->parameters();
  example.forward = [network](const torch::Tensor& input) mutable {
    return network->forward(input);
  };
  example.batch = [=](std::int64_t step, std::int64_t samples) {
    auto draws = torch::make_generator<at::CPUGeneratorImpl>(static_cast<std::uint64_t>(step));
    const torch::Tensor input = torch::randn({samples, kInputs}, draws);
    return allot::Batch{input, torch::tanh(input.matmul(teacher))};
  };
  example.loss = [](const torch::Tensor& output, const torch::Tensor& target) {
    return torch::mse_loss(output, target);
  };
  return allot::TrainElastic(argc, argv, std::move(example));
}
