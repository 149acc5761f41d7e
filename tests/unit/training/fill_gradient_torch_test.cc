// The same through the network: the gradient by the weights of a fill's log-probability, as
// training works it out, against central differences.

#include <gtest/gtest.h>

#include "agents/learned/index_agent.h"
#include "models/torch/index_trainer.h"
#include "sim/simulated_cluster.h"
#include "tests/unit/training/double_outputs.h"
#include "tests/unit/training/fill_probability.h"
#include "tests/unit/training/small_world.h"

namespace allot {
namespace {

constexpr double kFillTau = 0.4;

std::vector<DoubleScore> ScoresOf(const IndexNetWeights& weights, const std::string& moved,
                                  std::size_t at, double by, const FeatureBatch& features) {
  std::vector<DoubleScore> scores;
  for (const auto& [u, beta, kappa] : DoubleOutputs(weights, moved, at, by, features)) {
    scores.push_back({u, beta, kappa});
  }
  return scores;
}

TEST(FillGradientByWeights, AgreesWithCentralDifferences) {
  const auto scenario = RushScenario(10, "2x4", true);
  const SimulatedCluster cluster(*scenario);
  const Observation& o = cluster.Observe();
  IndexNetWeights weights = IndexAgentAt({.alpha = 0.25F, .beta = 0.5F, .kappa = 0.2F}, 6, 1);
  Rng rng(1, "fill-gradient-by-weights");
  for (float& weight : weights[index_net::kOutHidden].data) {
    weight = static_cast<float>(0.3 * rng.Normal());
  }
  FeatureBatch features;
  FeatureEncoder().Encode(o, &features);
  std::vector<Score> scores;
  for (const DoubleScore& s : ScoresOf(weights, "", 0, 0, features)) {
    scores.push_back(
        {static_cast<float>(s.u), static_cast<float>(s.beta), static_cast<float>(s.kappa)});
  }
  SampledFill fill(kFillTau);
  std::vector<Grant> grants;
  std::vector<Score> gradient;
  fill.Fill(o, scores, &rng, &grants, &gradient);

  std::vector<float> coefficients;
  for (const Score& g : gradient) coefficients.insert(coefficients.end(), {g.u, g.beta, g.kappa});
  const std::vector<std::int64_t> decision(o.job.size(), 0);
  const Gradient by_weight = IndexTrainer(weights).ComputeGradient(
      {features.jobs, features.context, decision}, LinearSurrogate(coefficients));
  for (const auto& [name, tensor] : weights.tensors) {
    for (std::size_t i = 0; i < tensor.data.size(); ++i) {
      constexpr double kStep = 1e-5;
      const auto probability = [&](double by) {
        return LogProbability(o, ScoresOf(weights, name, i, by, features), kFillTau, fill.draws());
      };
      const double expected = -(probability(kStep) - probability(-kStep)) / (2 * kStep);
      EXPECT_NEAR(by_weight.tensors.at(name).data[i], expected, 2e-4 * (1 + std::abs(expected)))
          << name << " element " << i;
    }
  }
}

}  // namespace
}  // namespace allot
