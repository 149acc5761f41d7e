// A small convolutional network learns to tell stripes that lie from stripes that stand, in noise.

#include <ATen/CPUGeneratorImpl.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <memory>
#include <utility>

#include "examples/train.h"

namespace {

constexpr int kSide = 16;

// Half of the images have stripes along each axis, with a period and phase of their own.
allot::Batch Stripes(std::int64_t step, std::int64_t samples) {
  auto draws = torch::make_generator<at::CPUGeneratorImpl>(static_cast<std::uint64_t>(step));
  const torch::Tensor label = torch::arange(samples).remainder(2);
  const torch::Tensor period = 3 + 3 * torch::rand({samples, 1}, draws);
  const torch::Tensor phase = 6 * torch::rand({samples, 1}, draws);
  const torch::Tensor wave =
      torch::sin((torch::arange(kSide).unsqueeze(0) + phase) * 6.2832 / period);
  const torch::Tensor lying = wave.unsqueeze(2).expand({samples, kSide, kSide});
  const torch::Tensor standing = wave.unsqueeze(1).expand({samples, kSide, kSide});
  const torch::Tensor image = torch::where(label.view({-1, 1, 1}) == 0, lying, standing);
  const torch::Tensor noise = torch::randn({samples, kSide, kSide}, draws);
  return {(image + noise).unsqueeze(1), label};
}

struct Convolutions : torch::nn::Module {
  torch::nn::Conv2d first =
      register_module("first", torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 8, 3).padding(1)));
  torch::nn::Conv2d second =
      register_module("second", torch::nn::Conv2d(torch::nn::Conv2dOptions(8, 16, 3).padding(1)));
  torch::nn::Linear last = register_module("last", torch::nn::Linear(16, 2));

  torch::Tensor forward(const torch::Tensor& image) {
    const torch::Tensor halved = torch::max_pool2d(torch::relu(first(image)), 2);
    const torch::Tensor pooled = torch::adaptive_avg_pool2d(torch::relu(second(halved)), {1, 1});
    return last(torch::flatten(pooled, 1));
  }
};

}  // namespace

int main(int argc, char** argv) {
  torch::manual_seed(1);
  const auto network = std::make_shared<Convolutions>();

  allot::Example example;
  example.parameters = network->parameters();
  example.forward = [network](const torch::Tensor& input) { return network->forward(input); };
  example.batch = Stripes;
  example.loss = [](const torch::Tensor& output, const torch::Tensor& target) {
    return torch::nll_loss(torch::log_softmax(output, 1), target);
  };
  return allot::TrainElastic(argc, argv, example);
}
