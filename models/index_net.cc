#include "models/index_net.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/rng.h"

namespace allot {
namespace {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int kLanes = 4;  // floats in the narrowest SIMD packet we run on

Eigen::Index Padded(int count) { return (count + kLanes - 1) / kLanes * kLanes; }

Eigen::Map<const RowMajor> AsMatrix(const Tensor& tensor) {
  return {tensor.data.data(), tensor.shape.at(0), tensor.shape.at(1)};
}

Eigen::Map<const Eigen::VectorXf> AsVector(const Tensor& tensor) {
  return {tensor.data.data(), tensor.shape.at(0)};
}

// y += M x for kRows rows of a column-major M, whose sums stay in registers.
template <int kRows>
void AddColumns(const float* m, Eigen::Index stride, const float* x, Eigen::Index columns,
                float* y) {
  using Column = Eigen::Array<float, kRows, 1>;
  Column sum = Eigen::Map<const Column>(y);
  for (Eigen::Index k = 0; k < columns; ++k) {
    sum += Eigen::Map<const Column>(m + k * stride) * x[k];
  }
  Eigen::Map<Column>{y} = sum;
}

// y += M x, M's rows a multiple of kLanes. Not a matrix product over all jobs: Eigen's blocked one
// adds a job's terms in an order that depends on its place in the block, and at these sizes is no
// faster.
void AddProduct(const Eigen::MatrixXf& m, const float* x, float* y) {
  constexpr int kWide = 4 * kLanes;
  Eigen::Index row = 0;
  for (; row + kWide <= m.rows(); row += kWide) {
    AddColumns<kWide>(m.data() + row, m.rows(), x, m.cols(), y + row);
  }
  for (; row < m.rows(); row += kLanes) {
    AddColumns<kLanes>(m.data() + row, m.rows(), x, m.cols(), y + row);
  }
}

}  // namespace

IndexNetWeights::IndexNetWeights(const IndexNetShape& net_shape) : shape(net_shape) {
  const auto [f, c, h, o] = net_shape;
  ALLOT_CHECK_GE(std::min({f, c, h, o}), 1);
  kind = kIndexKind;
  sizes = {{"job_features", f}, {"context_features", c}, {"hidden", h}, {"outputs", o}};
  const auto add = [this](std::string_view name, TensorShape tensor_shape) {
    tensors.emplace(name, ZeroTensor(std::move(tensor_shape)));
  };
  add(index_net::kHiddenJob, {h, f});
  add(index_net::kHiddenContext, {h, c});
  add(index_net::kHiddenBias, {h});
  add(index_net::kOutHidden, {o, h});
  add(index_net::kOutJob, {o, f});
  add(index_net::kOutContext, {o, c});
  add(index_net::kOutBias, {o});
}

IndexNetWeights::IndexNetWeights(NetWeights weights, const std::string& origin)
    : NetWeights(std::move(weights)) {
  const auto size = [&](const char* key) { return SizeOf(*this, key, origin); };
  shape = {size("job_features"), size("context_features"), size("hidden"), size("outputs")};
  RequireSameLayout(tensors, IndexNetWeights(shape).tensors, origin);
}

IndexNetWeights InitIndexNet(const IndexNetShape& shape, std::uint64_t seed) {
  IndexNetWeights weights(shape);
  std::uint64_t stream = 0;
  for (const std::string_view name : {index_net::kHiddenJob, index_net::kHiddenContext}) {
    Tensor& tensor = weights[name];
    const double deviation = 0.4 / std::sqrt(static_cast<double>(tensor.shape.at(1)));
    Rng rng(seed, "index-net-init", stream++);
    for (float& value : tensor.data) value = static_cast<float>(deviation * rng.Normal());
  }
  return weights;
}

IndexNet::IndexNet(const IndexNetWeights& weights)
    : shape_(weights.shape),
      padded_hidden_(Padded(weights.shape.hidden)),
      padded_outputs_(Padded(weights.shape.outputs)) {
  const auto [f, c, h, o] = shape_;
  const Eigen::Index rows = padded_hidden_ + padded_outputs_;
  from_job_.setZero(rows, f);
  from_job_.topRows(h) = AsMatrix(weights[index_net::kHiddenJob]);
  from_job_.middleRows(padded_hidden_, o) = AsMatrix(weights[index_net::kOutJob]);
  from_context_.setZero(rows, c);
  from_context_.topRows(h) = AsMatrix(weights[index_net::kHiddenContext]);
  from_context_.middleRows(padded_hidden_, o) = AsMatrix(weights[index_net::kOutContext]);
  bias_.setZero(rows);
  bias_.head(h) = AsVector(weights[index_net::kHiddenBias]);
  bias_.segment(padded_hidden_, o) = AsVector(weights[index_net::kOutBias]);
  out_from_hidden_.setZero(padded_outputs_, padded_hidden_);
  out_from_hidden_.topLeftCorner(o, h) = AsMatrix(weights[index_net::kOutHidden]);
}

void IndexNet::Forward(std::span<const float> jobs, std::span<const float> context,
                       std::span<float> out, Scratch* scratch) const {
  const Eigen::Index f = shape_.job_features;
  const Eigen::Index o = shape_.outputs;
  const Eigen::Index n = static_cast<Eigen::Index>(jobs.size()) / f;
  ALLOT_CHECK_EQ(static_cast<Eigen::Index>(jobs.size()), n * f);
  ALLOT_CHECK_EQ(static_cast<Eigen::Index>(out.size()), n * o);
  ALLOT_CHECK_EQ(static_cast<int>(context.size()), shape_.context_features);

  scratch->context = bias_;
  AddProduct(from_context_, context.data(), scratch->context.data());

  scratch->row.resize(scratch->context.size());
  auto hidden = scratch->row.head(padded_hidden_);
  auto scores = scratch->row.tail(padded_outputs_);
  for (Eigen::Index i = 0; i < n; ++i) {
    scratch->row = scratch->context;
    AddProduct(from_job_, jobs.data() + i * f, scratch->row.data());
    hidden = hidden.array().tanh();
    AddProduct(out_from_hidden_, hidden.data(), scores.data());
    std::copy_n(scores.data(), o, out.data() + i * o);
  }
}

}  // namespace allot
