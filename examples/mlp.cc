// A two-layer perceptron learns what a fixed random one computes.

#include <ATen/CPUGeneratorImpl.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <memory>
#include <utility>

#include "examples/train.h"

namespace {

constexpr int kInputs = 64;
constexpr int kHidden = 128;

struct Perceptron : torch::nn::Module {
  torch::nn::Linear first = register_module("first", torch::nn::Linear(kInputs, kHidden));
  torch::nn::Linear second = register_module("second", torch::nn::Linear(kHidden, kHidden));
  torch::nn::Linear last = register_module("last", torch::nn::Linear(kHidden, 1));

  torch::Tensor forward(const torch::Tensor& input) {
    return last(torch::relu(second(torch::relu(first(input)))));
  }
};

}  // namespace

int main(int argc, char** argv) {
  torch::manual_seed(1);
  const auto network = std::make_shared<Perceptron>();
  auto generator = torch::make_generator<at::CPUGeneratorImpl>(7);
  const torch::Tensor teacher = torch::randn({kInputs, 1}, generator) / 8;

  allot::Example example;
  example.parameters = network->parameters();
  example.forward = [network](const torch::Tensor& input) { return network->forward(input); };
  example.batch = [=](std::int64_t step, std::int64_t samples) {
    auto draws = torch::make_generator<at::CPUGeneratorImpl>(static_cast<std::uint64_t>(step));
    const torch::Tensor input = torch::randn({samples, kInputs}, draws);
    return allot::Batch{input, torch::tanh(input.matmul(teacher))};
  };
  example.loss = [](const torch::Tensor& output, const torch::Tensor& target) {
    return torch::mse_loss(output, target);
  };
  return allot::TrainElastic(argc, argv, example);
}
