#include "models/torch/sequence_module.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "models/sequence_net.h"
#include "tests/unit/models/random_values.h"

namespace allot {
namespace {

using testing_support::RandomValues;

constexpr int kKinds = 3;

NetWeights Disturbed(NetWeights weights) {
  std::uint64_t seed = 70;
  for (auto& [name, tensor] : weights.tensors) {
    const std::vector<float> noise = RandomValues(tensor.data.size(), ++seed);
    for (std::size_t i = 0; i < noise.size(); ++i) tensor.data[i] += 0.3F * noise[i];
  }
  return weights;
}

// Three decisions; the flat network sees its whole window in each.
struct Case {
  NetWeights weights;
  std::vector<std::int64_t> first_row;
  std::size_t job_features;
  std::size_t context_features;

  std::vector<float> jobs() const {
    return RandomValues(static_cast<std::size_t>(first_row.back()) * job_features, 1);
  }
  std::vector<float> contexts() const {
    return RandomValues((first_row.size() - 1) * context_features, 2);
  }
};

std::vector<Case> Cases() {
  return {{Disturbed(InitFlatNet({4, 5, 8, kKinds}, 1)), {0, 4, 8, 12}, 5, 2},
          {Disturbed(InitSharedNet({5, 2, 8, kKinds}, 1)), {0, 3, 4, 9}, 5, 2}};
}

// All logits in a line, by the Eigen pass.
std::vector<float> EigenForward(const NetWeights& weights, const Case& c) {
  const auto net = MakeSequenceNet(weights);
  const std::vector<float> jobs = c.jobs();
  const std::vector<float> contexts = c.contexts();
  SequenceNet::Scratch scratch;
  std::vector<float> line;
  for (std::size_t d = 0; d + 1 < c.first_row.size(); ++d) {
    const auto begin = static_cast<std::size_t>(c.first_row[d]);
    const auto rows = static_cast<std::size_t>(c.first_row[d + 1]) - begin;
    std::vector<float> out(rows * kKinds + 1);
    net->Forward(std::span(jobs).subspan(begin * c.job_features, rows * c.job_features),
                 std::span(contexts).subspan(d * c.context_features, c.context_features), out,
                 &scratch);
    line.insert(line.end(), out.begin(), out.end());
  }
  return line;
}

TEST(SequenceModule, AgreesWithTheEigenPass) {
  for (const Case& c : Cases()) {
    const std::vector<float> jobs = c.jobs();
    const std::vector<float> contexts = c.contexts();
    const std::vector<float> logits =
        SequenceModule(c.weights).Forward({jobs, contexts, c.first_row});
    const std::vector<float> expected = EigenForward(c.weights, c);
    ASSERT_EQ(logits.size(), expected.size()) << c.weights.kind;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      EXPECT_NEAR(logits[i], expected[i], 1e-5 * (1 + std::abs(expected[i]))) << c.weights.kind;
    }
  }
}

// Of the loss sum of sin(logit), against central differences of the Eigen pass.
TEST(SequenceModule, GradientAgreesWithCentralDifferences) {
  for (const Case& c : Cases()) {
    const std::vector<float> jobs = c.jobs();
    const std::vector<float> contexts = c.contexts();
    const Gradient gradient = SequenceModule(c.weights).ComputeGradient(
        {jobs, contexts, c.first_row}, [](std::span<const float> logits, std::span<float> g) {
          double loss = 0;
          for (std::size_t i = 0; i < logits.size(); ++i) {
            loss += std::sin(logits[i]);
            g[i] = std::cos(logits[i]);
          }
          return loss;
        });
    const auto loss_at = [&](const std::string& name, std::size_t i, float by) {
      NetWeights moved = c.weights;
      moved[name].data[i] += by;
      double loss = 0;
      for (const float logit : EigenForward(moved, c)) loss += std::sin(logit);
      return loss;
    };
    for (const auto& [name, tensor] : c.weights.tensors) {
      for (std::size_t i = 0; i < tensor.data.size(); i += 3) {
        const float step = 1e-2F;
        const double expected = (loss_at(name, i, step) - loss_at(name, i, -step)) / (2 * step);
        // Single precision, and the kink of a ReLU may lie in between.
        EXPECT_NEAR(gradient.tensors.at(name).data[i], expected, 0.03 * (1 + std::abs(expected)))
            << c.weights.kind << " " << name << " element " << i;
      }
    }
  }
}

}  // namespace
}  // namespace allot
