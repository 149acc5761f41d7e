// The gradient by the weights of the log-probability of numbers drawn with noise, as training works
// it out, against central differences.

#include <gtest/gtest.h>

#include "agents/training/value_noise.h"
#include "models/torch/index_trainer.h"
#include "sim/simulated_cluster.h"
#include "tests/unit/training/double_outputs.h"
#include "tests/unit/training/small_world.h"

namespace allot {
namespace {

class ValueGradientByWeights : public testing::TestWithParam<const char*> {};

TEST_P(ValueGradientByWeights, AgreesWithCentralDifferences) {
  constexpr double kSpread = 0.4;
  const auto scenario = RushScenario(10, "2x4", true);
  const SimulatedCluster cluster(*scenario);
  const Observation& o = cluster.Observe();
  IndexNetWeights weights(MakeNetwork(GetParam(), 1));
  Rng rng(1, "value-gradient-by-weights");
  for (float& weight : weights[index_net::kOutHidden].data) {
    weight = static_cast<float>(0.3 * rng.Normal());
  }
  const auto policy = MakeNumbersPolicy({weights, {}});
  policy->OnEpisodeStart({});
  policy->Think(o);
  std::vector<float> moved;
  std::vector<float> gradient;
  ValueNoise(kSpread, policy->Steps()).Move(1, o.job, policy->outputs(), &moved, &gradient);

  const FeatureBatch& features = policy->features();
  const std::vector<std::int64_t> decision(o.job.size(), 0);
  const Gradient by_weight = IndexTrainer(weights).ComputeGradient(
      {features.jobs, features.context, decision}, LinearSurrogate(gradient));
  for (const auto& [name, tensor] : weights.tensors) {
    for (std::size_t i = 0; i < tensor.data.size(); ++i) {
      constexpr double kStep = 1e-5;
      const auto log_probability = [&](double by) {
        double sum = 0;
        std::size_t at = 0;
        for (const auto& outputs : DoubleOutputs(weights, name, i, by, features)) {
          for (std::size_t k = 0; k < outputs.size(); ++k) {
            const double z = (moved[at++] - outputs[k]) / (kSpread * policy->Steps()[k]);
            sum -= z * z / 2;
          }
        }
        return sum;
      };
      const double expected = -(log_probability(kStep) - log_probability(-kStep)) / (2 * kStep);
      EXPECT_NEAR(by_weight.tensors.at(name).data[i], expected, 5e-4 * (1 + std::abs(expected)))
          << name << " element " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, ValueGradientByWeights,
                         testing::Values("index:hidden=4", "offsets:hidden=4"),
                         [](const auto& tested) {
                           return std::string(tested.index == 0 ? "Index" : "Offsets");
                         });

}  // namespace
}  // namespace allot
