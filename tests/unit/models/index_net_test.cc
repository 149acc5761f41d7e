#include "models/index_net.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/rng.h"
#include "models/tensor.h"
#include "tests/unit/models/random_values.h"

namespace allot {
namespace {

using testing_support::RandomValues;

IndexNetWeights RandomWeights(const IndexNetShape& shape, std::uint64_t seed) {
  IndexNetWeights weights(shape);
  for (auto& [name, tensor] : weights.tensors) {
    tensor.data = RandomValues(tensor.data.size(), ++seed, 0.3);
  }
  return weights;
}

std::vector<float> Forward(const IndexNet& net, const std::vector<float>& jobs,
                           const std::vector<float>& context) {
  const auto n = jobs.size() / static_cast<std::size_t>(net.shape().job_features);
  std::vector<float> out(n * static_cast<std::size_t>(net.shape().outputs));
  IndexNet::Scratch scratch;
  net.Forward(jobs, context, out, &scratch);
  return out;
}

// The formula of the header, in double, straight from the named tensors.
std::vector<double> Reference(const IndexNetWeights& w, const std::vector<float>& jobs,
                              const std::vector<float>& context) {
  const auto f = static_cast<std::size_t>(w.shape.job_features);
  const auto c = static_cast<std::size_t>(w.shape.context_features);
  const auto dot = [](const Tensor& matrix, std::size_t row, const auto* x, std::size_t size) {
    double sum = 0;
    for (std::size_t k = 0; k < size; ++k) {
      sum += static_cast<double>(matrix.data[row * size + k]) * static_cast<double>(x[k]);
    }
    return sum;
  };
  std::vector<double> out;
  for (std::size_t i = 0; i < jobs.size() / f; ++i) {
    const float* x = jobs.data() + i * f;
    std::vector<double> h;
    for (std::size_t k = 0; k < static_cast<std::size_t>(w.shape.hidden); ++k) {
      h.push_back(std::tanh(dot(w[index_net::kHiddenJob], k, x, f) +
                            dot(w[index_net::kHiddenContext], k, context.data(), c) +
                            static_cast<double>(w[index_net::kHiddenBias].data[k])));
    }
    for (std::size_t o = 0; o < static_cast<std::size_t>(w.shape.outputs); ++o) {
      out.push_back(dot(w[index_net::kOutHidden], o, h.data(), h.size()) +
                    dot(w[index_net::kOutJob], o, x, f) +
                    dot(w[index_net::kOutContext], o, context.data(), c) +
                    static_cast<double>(w[index_net::kOutBias].data[o]));
    }
  }
  return out;
}

class IndexNetShapes : public testing::TestWithParam<IndexNetShape> {};

TEST_P(IndexNetShapes, ForwardIsTheFormula) {
  const IndexNetShape shape = GetParam();
  const IndexNetWeights weights = RandomWeights(shape, 7);
  const IndexNet net(weights);
  const auto context = RandomValues(static_cast<std::size_t>(shape.context_features), 1);
  for (const std::size_t n : {0, 1, 2, 7, 50, 300}) {
    const auto jobs = RandomValues(n * static_cast<std::size_t>(shape.job_features), 2 + n);
    const auto expected = Reference(weights, jobs, context);
    const auto out = Forward(net, jobs, context);
    ASSERT_EQ(out.size(), expected.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      EXPECT_NEAR(out[i], expected[i], 1e-5) << "output " << i << " of " << n << " jobs";
    }
  }
}

TEST_P(IndexNetShapes, JobsAreScoredBitEqualInAnyOrderAndCompany) {
  const IndexNetShape shape = GetParam();
  const IndexNet net(RandomWeights(shape, 11));
  const auto f = static_cast<std::size_t>(shape.job_features);
  const auto o = static_cast<std::size_t>(shape.outputs);
  const std::size_t n = 61;
  const auto context = RandomValues(static_cast<std::size_t>(shape.context_features), 3);
  const auto jobs = RandomValues(n * f, 4);
  const auto out = Forward(net, jobs, context);

  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  Rng rng(5, "test-order");
  for (std::size_t i = n - 1; i > 0; --i) std::swap(order[i], order[rng.Below(i + 1)]);
  std::vector<float> shuffled;
  for (const std::size_t i : order) shuffled.insert(shuffled.end(), &jobs[i * f], &jobs[i * f] + f);
  const auto shuffled_out = Forward(net, shuffled, context);
  for (std::size_t i = 0; i < n; ++i) {
    const std::vector<float> alone_in(&jobs[order[i] * f], &jobs[order[i] * f] + f);
    const auto alone = Forward(net, alone_in, context);
    for (std::size_t k = 0; k < o; ++k) {
      EXPECT_EQ(shuffled_out[i * o + k], out[order[i] * o + k]) << "job " << order[i];
      EXPECT_EQ(alone[k], out[order[i] * o + k]) << "job " << order[i] << " alone";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, IndexNetShapes,
                         testing::Values(IndexNetShape{16, 40, 16, 3}, IndexNetShape{1, 1, 1, 1},
                                         IndexNetShape{14, 36, 5, 4}, IndexNetShape{3, 9, 33, 7},
                                         IndexNetShape{29, 130, 64, 2}));

TEST(IndexNet, TanhIsWithinAMillionthOfTheLibrarys) {
  // A net that is nothing but tanh: z = x, out = h.
  IndexNetWeights weights(IndexNetShape{1, 1, 1, 1});
  weights[index_net::kHiddenJob].data = {1.0F};
  weights[index_net::kOutHidden].data = {1.0F};
  std::vector<float> xs;
  for (int i = -4000; i <= 4000; ++i) xs.push_back(static_cast<float>(i) * 0.005F);
  for (const float x : {1e-6F, -1e-4F, 88.0F, -1e30F}) xs.push_back(x);
  const auto out = Forward(IndexNet(weights), xs, {0.0F});
  for (std::size_t i = 0; i < xs.size(); ++i) EXPECT_NEAR(out[i], std::tanh(xs[i]), 1e-6) << xs[i];
}

TEST(IndexNet, ScratchOfAnotherShapeIsResized) {
  IndexNet::Scratch scratch;
  for (const int hidden : {16, 3, 40}) {
    const IndexNetShape shape{2, 2, hidden, 1};
    const IndexNet net(RandomWeights(shape, 1));
    const auto jobs = RandomValues(8, 2);
    const auto context = RandomValues(2, 3);
    std::vector<float> out(4);
    net.Forward(jobs, context, out, &scratch);
    EXPECT_EQ(out, Forward(net, jobs, context)) << hidden << " hidden units";
  }
}

TEST(IndexNet, RefusesInputsOfTheWrongSize) {
  const IndexNet net(IndexNetWeights(IndexNetShape{2, 3, 4, 1}));
  IndexNet::Scratch scratch;
  std::vector<float> out(2);
  const std::vector<float> jobs(4);
  const std::vector<float> context(3);
  EXPECT_NO_THROW(net.Forward(jobs, context, out, &scratch));
  EXPECT_THROW(net.Forward(std::vector<float>(5), context, out, &scratch), std::logic_error);
  EXPECT_THROW(net.Forward(jobs, std::vector<float>(2), out, &scratch), std::logic_error);
  std::vector<float> too_long(3);
  EXPECT_THROW(net.Forward(jobs, context, too_long, &scratch), std::logic_error);
}

TEST(InitIndexNet, ScoresAreZeroUntilASkipWeightIsSet) {
  const IndexNetShape shape{16, 40, 16, 3};
  const auto out =
      Forward(IndexNet(InitIndexNet(shape, 1)), RandomValues(160, 1), RandomValues(40, 2));
  EXPECT_EQ(out, std::vector<float>(30, 0.0F));
}

TEST(InitIndexNet, HiddenWeightsHaveTheStatedDeviation) {
  const IndexNetWeights weights = InitIndexNet(IndexNetShape{100, 400, 200, 1}, 3);
  for (const auto& [name, fan_in] :
       {std::pair(index_net::kHiddenJob, 100.0), std::pair(index_net::kHiddenContext, 400.0)}) {
    double sum = 0;
    double squares = 0;
    const std::vector<float>& values = weights[name].data;
    for (const float value : values) {
      sum += value;
      squares += static_cast<double>(value) * value;
    }
    const auto count = static_cast<double>(values.size());
    const double deviation = 0.4 / std::sqrt(fan_in);
    EXPECT_NEAR(sum / count, 0.0, 4 * deviation / std::sqrt(count)) << name;
    EXPECT_NEAR(std::sqrt(squares / count), deviation, 0.02 * deviation) << name;
  }
}

TEST(InitIndexNet, SeedDecidesTheWeights) {
  const IndexNetShape shape{4, 5, 6, 2};
  EXPECT_EQ(InitIndexNet(shape, 1), InitIndexNet(shape, 1));
  EXPECT_NE(InitIndexNet(shape, 1), InitIndexNet(shape, 2));
}

}  // namespace
}  // namespace allot
