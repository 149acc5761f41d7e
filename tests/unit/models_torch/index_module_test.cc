#include "models/torch/index_module.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

#include "models/torch/configure.h"
#include "tests/unit/models/random_values.h"

namespace allot {
namespace {

using testing_support::RandomValues;

const bool configured = (ConfigureTorch(), true);

IndexNetWeights RandomWeights(const IndexNetShape& shape, std::uint64_t seed) {
  IndexNetWeights weights(shape);
  for (auto& [name, tensor] : weights.tensors) {
    tensor.data = RandomValues(tensor.data.size(), ++seed, 0.3);
  }
  return weights;
}

// Decisions of the given numbers of jobs, with random features.
struct Decisions {
  Decisions(const IndexNetShape& shape, const std::vector<int>& jobs_of_decision,
            std::uint64_t seed) {
    for (std::size_t d = 0; d < jobs_of_decision.size(); ++d) {
      decision_of_job.insert(decision_of_job.end(), static_cast<std::size_t>(jobs_of_decision[d]),
                             static_cast<std::int64_t>(d));
    }
    jobs =
        RandomValues(decision_of_job.size() * static_cast<std::size_t>(shape.job_features), seed);
    contexts = RandomValues(
        jobs_of_decision.size() * static_cast<std::size_t>(shape.context_features), seed + 1);
  }
  IndexBatch batch() const { return {jobs, contexts, decision_of_job}; }

  std::vector<float> jobs;
  std::vector<float> contexts;
  std::vector<std::int64_t> decision_of_job;
};

// A loss with curvature: sum of sin(out) + out^2 / 3 over all outputs.
double CurvedLoss(std::span<const float> outputs, std::span<float> gradient) {
  double loss = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const double x = outputs[i];
    loss += std::sin(x) + x * x / 3;
    gradient[i] = static_cast<float>(std::cos(x) + 2 * x / 3);
  }
  return loss;
}

class IndexModuleShapes : public testing::TestWithParam<IndexNetShape> {};

TEST_P(IndexModuleShapes, ForwardEqualsTheTorchFreeOne) {
  const IndexNetShape shape = GetParam();
  const IndexNetWeights weights = RandomWeights(shape, 21);
  const IndexNet net(weights);
  const IndexModule module(weights);
  const auto f = static_cast<std::size_t>(shape.job_features);
  const auto c = static_cast<std::size_t>(shape.context_features);
  const auto o = static_cast<std::size_t>(shape.outputs);
  for (const std::vector<int>& sizes :
       std::vector<std::vector<int>>{{}, {0}, {1}, {2, 0, 5}, {50, 1, 49}, {300}}) {
    const Decisions decisions(shape, sizes, 5);
    const std::vector<float> outputs = module.Forward(decisions.batch());
    ASSERT_EQ(outputs.size(), decisions.decision_of_job.size() * o);
    IndexNet::Scratch scratch;
    std::size_t first = 0;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      const auto n = static_cast<std::size_t>(sizes[d]);
      std::vector<float> expected(n * o);
      net.Forward(std::span(decisions.jobs).subspan(first * f, n * f),
                  std::span(decisions.contexts).subspan(d * c, c), expected, &scratch);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_NEAR(outputs[first * o + i], expected[i], 1e-5)
            << "output " << i << " of decision " << d << " with " << n << " jobs";
      }
      first += n;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, IndexModuleShapes,
                         testing::Values(IndexNetShape{16, 40, 16, 3}, IndexNetShape{1, 1, 1, 1},
                                         IndexNetShape{14, 36, 5, 4},
                                         IndexNetShape{29, 130, 64, 2}));

TEST(IndexModule, WeightsComeBackBitEqual) {
  const IndexNetWeights weights = RandomWeights({4, 6, 5, 2}, 1);
  IndexModule module(weights);
  EXPECT_EQ(module.weights(), weights);
  const IndexNetWeights others = RandomWeights({4, 6, 5, 2}, 50);
  module.SetWeights(others);
  EXPECT_EQ(module.weights(), others);
}

// The loss as a function of the weights, in double throughout, for central differences.
double LossInDouble(const IndexNetWeights& w, const std::string& moved, std::size_t at, double by,
                    const Decisions& decisions) {
  const auto value = [&](std::string_view name, std::size_t i) {
    return static_cast<double>(w[name].data[i]) + (name == moved && i == at ? by : 0.0);
  };
  const auto f = static_cast<std::size_t>(w.shape.job_features);
  const auto c = static_cast<std::size_t>(w.shape.context_features);
  const auto hidden = static_cast<std::size_t>(w.shape.hidden);
  double loss = 0;
  for (std::size_t i = 0; i < decisions.decision_of_job.size(); ++i) {
    const float* x = &decisions.jobs[i * f];
    const float* context =
        &decisions.contexts[static_cast<std::size_t>(decisions.decision_of_job[i]) * c];
    std::vector<double> h(hidden);
    for (std::size_t k = 0; k < hidden; ++k) {
      double z = value(index_net::kHiddenBias, k);
      for (std::size_t q = 0; q < f; ++q) z += value(index_net::kHiddenJob, k * f + q) * x[q];
      for (std::size_t q = 0; q < c; ++q)
        z += value(index_net::kHiddenContext, k * c + q) * context[q];
      h[k] = std::tanh(z);
    }
    for (std::size_t o = 0; o < static_cast<std::size_t>(w.shape.outputs); ++o) {
      double out = value(index_net::kOutBias, o);
      for (std::size_t k = 0; k < hidden; ++k)
        out += value(index_net::kOutHidden, o * hidden + k) * h[k];
      for (std::size_t q = 0; q < f; ++q) out += value(index_net::kOutJob, o * f + q) * x[q];
      for (std::size_t q = 0; q < c; ++q)
        out += value(index_net::kOutContext, o * c + q) * context[q];
      loss += std::sin(out) + out * out / 3;
    }
  }
  return loss;
}

TEST(IndexModule, GradientAgreesWithCentralDifferences) {
  const IndexNetShape shape{3, 4, 5, 2};
  const IndexNetWeights weights = RandomWeights(shape, 77);
  Decisions decisions(shape, {3, 0, 1, 4}, 8);
  std::reverse(decisions.decision_of_job.begin(), decisions.decision_of_job.end());
  const Gradient gradient = IndexModule(weights).ComputeGradient(decisions.batch(), CurvedLoss);

  const double step =
      1e-5;  // differences in double are good to about 1e-9; float gradients to 1e-6
  EXPECT_NEAR(gradient.loss, LossInDouble(weights, "", 0, 0, decisions), 1e-4);
  ASSERT_EQ(gradient.tensors.size(), weights.tensors.size());
  for (const auto& [name, tensor] : weights.tensors) {
    ASSERT_EQ(gradient.tensors.at(name).shape, tensor.shape) << name;
    for (std::size_t i = 0; i < tensor.data.size(); ++i) {
      const double expected = (LossInDouble(weights, name, i, step, decisions) -
                               LossInDouble(weights, name, i, -step, decisions)) /
                              (2 * step);
      EXPECT_NEAR(gradient.tensors.at(name).data[i], expected, 1e-5 * (1 + std::abs(expected)))
          << name << " element " << i;
    }
  }
}

TEST(IndexModule, LinearSurrogateIsMinusTheWeightedSumOfOutputs) {
  const IndexNetShape shape{3, 4, 5, 2};
  const IndexModule module(RandomWeights(shape, 31));
  const Decisions decisions(shape, {2, 3}, 9);
  const std::vector<float> coefficients = RandomValues(10, 10);
  const std::vector<float> outputs = module.Forward(decisions.batch());
  double expected = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) expected -= coefficients[i] * outputs[i];

  const Gradient gradient =
      module.ComputeGradient(decisions.batch(), LinearSurrogate(coefficients));
  EXPECT_NEAR(gradient.loss, expected, 1e-5);
  // The bias of output o moves every job's output o by one: its gradient is minus the column's sum.
  for (std::size_t o = 0; o < 2; ++o) {
    double column = 0;
    for (std::size_t i = o; i < coefficients.size(); i += 2) column -= coefficients[i];
    EXPECT_NEAR(gradient.tensors.at("out.bias").data[o], column, 1e-5);
  }
}

TEST(IndexModule, NoJobsGiveAZeroGradient) {
  const IndexNetWeights weights = RandomWeights({3, 4, 5, 2}, 1);
  for (const std::vector<int>& sizes : {std::vector<int>{}, std::vector<int>{0, 0}}) {
    const Decisions decisions(weights.shape, sizes, 1);
    const Gradient gradient = IndexModule(weights).ComputeGradient(decisions.batch(), CurvedLoss);
    EXPECT_EQ(gradient.tensors, ZerosLike(weights.tensors)) << sizes.size() << " decisions";
  }
}

TEST(IndexModule, ConcurrentGradientsAreBitEqualToSequentialOnes) {
  const IndexNetShape shape{16, 40, 16, 3};
  const IndexModule module(RandomWeights(shape, 3));
  std::vector<Decisions> batches;
  for (std::uint64_t b = 0; b < 16; ++b) {
    batches.emplace_back(shape, std::vector<int>(40, static_cast<int>(3 * b + 1)), 100 + 2 * b);
  }
  std::vector<Gradient> sequential;
  for (const Decisions& batch : batches) {
    sequential.push_back(module.ComputeGradient(batch.batch(), CurvedLoss));
  }
  std::vector<Gradient> concurrent(batches.size());
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t b = t; b < batches.size(); b += 4) {
        concurrent[b] = module.ComputeGradient(batches[b].batch(), CurvedLoss);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t b = 0; b < batches.size(); ++b) {
    EXPECT_EQ(concurrent[b].tensors, sequential[b].tensors) << "batch " << b;
    EXPECT_EQ(concurrent[b].loss, sequential[b].loss) << "batch " << b;
  }
}

TEST(IndexModule, RefusesADecisionIndexOutOfRange) {
  const IndexModule module(RandomWeights({1, 1, 1, 1}, 1));
  const std::vector<float> jobs = {1, 2};
  const std::vector<float> contexts = {1};
  for (const std::int64_t bad : {std::int64_t{1}, std::int64_t{-1}}) {
    const std::vector<std::int64_t> decision_of_job = {0, bad};
    EXPECT_THROW(module.Forward({jobs, contexts, decision_of_job}), std::logic_error) << bad;
  }
}

}  // namespace
}  // namespace allot
