#include "models/index_net.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/rng.h"
#include "models/index_kernel.h"
#include "models/tensor_views.h"

namespace allot {
namespace {

Eigen::Index Padded(int count) {
  constexpr auto kLanes = static_cast<Eigen::Index>(internal::kLanes);
  return (count + kLanes - 1) / kLanes * kLanes;
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
  scratch->context.noalias() +=
      from_context_ * Eigen::Map<const Eigen::VectorXf>(context.data(), shape_.context_features);
  scratch->row.resize(internal::kJobsAtOnce * scratch->context.size());
  const auto size = [](Eigen::Index index) { return static_cast<std::size_t>(index); };
  internal::RunIndexKernel({.features = size(f),
                            .hidden = size(padded_hidden_),
                            .outputs = size(padded_outputs_),
                            .from_job = from_job_.data(),
                            .base = scratch->context.data(),
                            .out_from_hidden = out_from_hidden_.data()},
                           jobs.data(), size(n), size(o), out.data(), scratch->row.data());
}

}  // namespace allot
