#include "models/torch/index_trainer.h"

#include <gtest/gtest.h>
#include <torch/optim/adam.h>
#include <unistd.h>

// After adam.h: it does not include what it uses.
#include <torch/nn/utils/clip_grad.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "models/checkpoint.h"
#include "models/torch/configure.h"
#include "tests/unit/core/temp_folder.h"
#include "tests/unit/models/random_values.h"

namespace allot {
namespace {

using testing_support::RandomValues;

const bool torch_configured = (ConfigureTorch(), true);

constexpr IndexNetShape kShape{4, 6, 8, 2};
constexpr std::int64_t kJobs = 30;
constexpr std::int64_t kDecisions = 3;

// Step `iteration` of a regression onto targets that depend on the iteration only.
void TrainStep(IndexTrainer* trainer, std::uint64_t iteration) {
  const std::vector<float> jobs = RandomValues(kJobs * 4, 3 * iteration);
  const std::vector<float> contexts = RandomValues(kDecisions * 6, 3 * iteration + 1);
  const std::vector<float> targets = RandomValues(kJobs * 2, 3 * iteration + 2);
  std::vector<std::int64_t> decision_of_job(kJobs);
  for (std::int64_t i = 0; i < kJobs; ++i) {
    decision_of_job[static_cast<std::size_t>(i)] = i % kDecisions;
  }
  const auto squared_error = [&](std::span<const float> outputs, std::span<float> gradient) {
    double loss = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const float difference = outputs[i] - targets[i];
      loss += 0.5 * static_cast<double>(difference) * difference;
      gradient[i] = difference;
    }
    return loss;
  };
  const Gradient gradient =
      trainer->ComputeGradient({jobs, contexts, decision_of_job}, squared_error);
  trainer->Step(gradient.tensors, 0.01);
}

TEST(IndexTrainer, ResumedFromACheckpointItContinuesBitForBit) {
  IndexTrainer uninterrupted(InitIndexNet(kShape, 1));
  for (std::uint64_t i = 0; i < 20; ++i) TrainStep(&uninterrupted, i);

  const testing_support::TempFolder folder;
  const std::filesystem::path path = folder / "checkpoint";
  {
    IndexTrainer first(InitIndexNet(kShape, 1));
    for (std::uint64_t i = 0; i < 8; ++i) TrainStep(&first, i);
    Checkpoint checkpoint;
    checkpoint.weights = first.weights();
    checkpoint.adam = first.adam();
    SaveCheckpoint(checkpoint, path.string());
  }
  const Checkpoint loaded = LoadCheckpoint(path.string());
  IndexTrainer second(IndexNetWeights(loaded.weights), {}, loaded.adam.value());
  for (std::uint64_t i = 8; i < 20; ++i) TrainStep(&second, i);
  EXPECT_EQ(second.weights(), uninterrupted.weights());
  EXPECT_EQ(second.adam(), uninterrupted.adam());
}

TEST(IndexTrainer, GradientsFollowTheWeightsOfTheLastStep) {
  IndexTrainer trainer(InitIndexNet(kShape, 1));
  TrainStep(&trainer, 0);
  IndexTrainer fresh(trainer.weights(), {}, trainer.adam());
  TrainStep(&trainer, 1);
  TrainStep(&fresh, 1);
  EXPECT_EQ(trainer.weights(), fresh.weights());
}

TEST(Adam, AgreesWithLibtorchs) {
  IndexNetWeights weights = InitIndexNet(kShape, 5);
  AdamOptions options;
  options.max_gradient_norm = 5.0;
  AdamState state;
  std::vector<at::Tensor> parameters;
  for (const auto& [name, tensor] : weights.tensors) {
    parameters.push_back(at::tensor(tensor.data).requires_grad_());
  }
  torch::optim::Adam reference(parameters,
                               torch::optim::AdamOptions().betas({0.9, 0.99}).eps(1e-8));
  for (int step = 0; step < 50; ++step) {
    const double learning_rate = 0.02 / (1 + step);
    TensorMap gradient = ZerosLike(weights.tensors);
    std::size_t p = 0;
    for (auto& [name, tensor] : gradient) {
      tensor.data = RandomValues(tensor.data.size(), static_cast<std::uint64_t>(100 * step) + p);
      parameters[p++].mutable_grad() = at::tensor(tensor.data);
    }
    AdamStep(gradient, learning_rate, options, &weights.tensors, &state);
    torch::nn::utils::clip_grad_norm_(parameters, options.max_gradient_norm);
    for (auto& group : reference.param_groups()) {
      static_cast<torch::optim::AdamOptions&>(group.options()).lr(learning_rate);
    }
    reference.step();
  }
  std::size_t p = 0;
  for (const auto& [name, tensor] : weights.tensors) {
    const float* expected = parameters[p++].data_ptr<float>();
    for (std::size_t i = 0; i < tensor.data.size(); ++i) {
      EXPECT_NEAR(tensor.data[i], expected[i], 1e-5) << name << " element " << i;
    }
  }
}

}  // namespace
}  // namespace allot
