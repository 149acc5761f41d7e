#include "models/torch/index_module.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "core/check.h"
#include "models/torch/segments.h"

namespace allot {
namespace {

using Parameters = std::map<std::string, at::Tensor, std::less<>>;

at::Tensor FromSpan(std::span<const float> values, at::IntArrayRef shape) {
  // from_blob takes no const pointer; nothing below writes to an input.
  return at::from_blob(const_cast<float*>(values.data()), shape, at::kFloat);
}

std::span<float> AsSpan(const at::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace

OutputLoss LinearSurrogate(std::span<const float> coefficients) {
  return [coefficients](std::span<const float> outputs, std::span<float> gradient) {
    ALLOT_CHECK_EQ(outputs.size(), coefficients.size());
    double loss = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      loss -= static_cast<double>(coefficients[i]) * outputs[i];
      gradient[i] = -coefficients[i];
    }
    return loss;
  };
}

struct IndexModule::Impl {
  IndexNetShape shape;
  Parameters parameters;

  // Leaves of the autograd graph over the same storage.
  Parameters Leaves() const {
    Parameters leaves;
    for (const auto& [name, tensor] : parameters) {
      leaves.emplace(name, tensor.detach().requires_grad_());
    }
    return leaves;
  }

  at::Tensor Forward(const Parameters& p, const IndexBatch& batch) const {
    const auto n = static_cast<std::int64_t>(batch.decision_of_job.size());
    const auto d = static_cast<std::int64_t>(batch.contexts.size()) / shape.context_features;
    ALLOT_CHECK_EQ(static_cast<std::int64_t>(batch.jobs.size()), n * shape.job_features);
    ALLOT_CHECK_EQ(static_cast<std::int64_t>(batch.contexts.size()), d * shape.context_features);
    for (const std::int64_t decision : batch.decision_of_job) {
      ALLOT_CHECK_GE(decision, 0);
      ALLOT_CHECK_LT(decision, d);
    }
    const at::Tensor x = FromSpan(batch.jobs, {n, shape.job_features});
    const at::Tensor c = FromSpan(batch.contexts, {d, shape.context_features});
    const at::Tensor index =
        at::from_blob(const_cast<std::int64_t*>(batch.decision_of_job.data()), {n}, at::kLong);
    const auto at = [&p](std::string_view name) { return p.find(name)->second; };

    // What the context adds is the same for all jobs of a decision: computed per decision, then
    // spread.
    const auto from_context = [&](std::string_view bias, std::string_view weight) {
      return SpreadRows(at::addmm(at(bias), c, at(weight).t()), index);
    };
    const at::Tensor z = at::addmm(from_context(index_net::kHiddenBias, index_net::kHiddenContext),
                                   x, at(index_net::kHiddenJob).t());
    const at::Tensor skip = at::addmm(from_context(index_net::kOutBias, index_net::kOutContext), x,
                                      at(index_net::kOutJob).t());
    return at::addmm(skip, at::tanh(z), at(index_net::kOutHidden).t());
  }
};

IndexModule::IndexModule(const IndexNetWeights& weights) : impl_(std::make_unique<Impl>()) {
  impl_->shape = weights.shape;
  for (const auto& [name, tensor] : weights.tensors) {
    impl_->parameters.emplace(name, at::empty(tensor.shape, at::kFloat));
  }
  SetWeights(weights);
}

IndexModule::~IndexModule() = default;
IndexModule::IndexModule(IndexModule&&) noexcept = default;
IndexModule& IndexModule::operator=(IndexModule&&) noexcept = default;

IndexNetWeights IndexModule::weights() const {
  IndexNetWeights weights(impl_->shape);
  for (const auto& [name, tensor] : impl_->parameters) {
    std::ranges::copy(AsSpan(tensor), weights[name].data.begin());
  }
  return weights;
}

void IndexModule::SetWeights(const IndexNetWeights& weights) {
  ALLOT_CHECK(weights.shape == impl_->shape);
  for (auto& [name, tensor] : impl_->parameters) {
    std::ranges::copy(weights[name].data, AsSpan(tensor).begin());
  }
}

std::vector<float> IndexModule::Forward(const IndexBatch& batch) const {
  const at::NoGradGuard no_grad;
  const at::Tensor outputs = impl_->Forward(impl_->parameters, batch).contiguous();
  const std::span<float> values = AsSpan(outputs);
  return {values.begin(), values.end()};
}

Gradient IndexModule::ComputeGradient(const IndexBatch& batch, const OutputLoss& loss) const {
  const Parameters leaves = impl_->Leaves();
  const at::Tensor outputs = impl_->Forward(leaves, batch).contiguous();
  const at::Tensor upstream = at::zeros_like(outputs);

  Gradient gradient;
  gradient.loss = loss(AsSpan(outputs), AsSpan(upstream));

  torch::autograd::variable_list inputs;
  for (const auto& [name, leaf] : leaves) inputs.push_back(leaf);
  // grad() hands the gradients back instead of adding them to the leaves.
  const auto gradients = torch::autograd::grad({outputs}, inputs, {upstream});
  std::size_t i = 0;
  for (const auto& [name, leaf] : leaves) {
    const at::Tensor values = gradients[i++].contiguous();
    const std::span<float> flat = AsSpan(values);
    gradient.tensors.emplace(
        name, Tensor{leaf.sizes().vec(), std::vector<float>(flat.begin(), flat.end())});
  }
  return gradient;
}

}  // namespace allot
