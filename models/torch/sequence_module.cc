#include "models/torch/sequence_module.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <map>
#include <string>

#include "core/check.h"
#include "models/sequence_net.h"
#include "models/torch/segments.h"

namespace allot {
namespace {

using Parameters = std::map<std::string, at::Tensor, std::less<>>;

at::Tensor View(std::span<const float> values, at::IntArrayRef shape) {
  // from_blob takes no const pointer; nothing below writes to an input.
  return at::from_blob(const_cast<float*>(values.data()), shape, at::kFloat);
}

// What a pass gives: of each row its actions' logits [rows, kinds], of each decision "done" [D].
struct Logits {
  at::Tensor of_rows;
  at::Tensor done;
};

}  // namespace

struct SequenceModule::Impl {
  std::string kind;
  std::int64_t window = 0;  // flat
  std::int64_t job_features = 0;
  std::int64_t context_features = 0;  // shared
  std::int64_t kinds = 0;
  Parameters parameters;

  Parameters Leaves() const {
    Parameters leaves;
    for (const auto& [name, tensor] : parameters) {
      leaves.emplace(name, tensor.detach().requires_grad_());
    }
    return leaves;
  }

  Logits Forward(const Parameters& p, const SequenceBatch& batch) const {
    const auto decisions = static_cast<std::int64_t>(batch.first_row.size()) - 1;
    const std::int64_t rows = batch.first_row.back();
    ALLOT_CHECK_EQ(static_cast<std::int64_t>(batch.jobs.size()), rows * job_features);
    return kind == kFlatKind ? Flat(p, batch, decisions) : Shared(p, batch, decisions, rows);
  }

  Logits Flat(const Parameters& p, const SequenceBatch& batch, std::int64_t decisions) const {
    const auto at = [&p](std::string_view name) { return p.find(name)->second; };
    const at::Tensor x = View(batch.jobs, {decisions, window * job_features});
    at::Tensor h = at::relu(at::addmm(at("first.bias"), x, at("first.weight").t()));
    h = at::relu(at::addmm(at("second.bias"), h, at("second.weight").t()));
    const at::Tensor out = at::addmm(at("out.bias"), h, at("out.weight").t());
    return {out.narrow(1, 0, window * kinds).reshape({decisions * window, kinds}),
            out.select(1, window * kinds)};
  }

  Logits Shared(const Parameters& p, const SequenceBatch& batch, std::int64_t decisions,
                std::int64_t rows) const {
    const auto at = [&p](std::string_view name) { return p.find(name)->second; };
    const at::Tensor x = View(batch.jobs, {rows, job_features});
    const at::Tensor c = View(batch.contexts, {decisions, context_features});
    const at::Tensor index = at::empty({rows}, at::kLong);
    const at::Tensor share = at::empty({decisions, 1});
    for (std::int64_t d = 0; d < decisions; ++d) {
      const std::int64_t begin = batch.first_row[static_cast<std::size_t>(d)];
      const std::int64_t end = batch.first_row[static_cast<std::size_t>(d) + 1];
      std::fill(index.data_ptr<std::int64_t>() + begin, index.data_ptr<std::int64_t>() + end, d);
      share.data_ptr<float>()[d] =
          1.0F / static_cast<float>(std::max<std::int64_t>(1, end - begin));
    }
    const at::Tensor from_context = at::addmm(at("hidden.bias"), c, at("hidden.context").t());
    const at::Tensor h =
        at::tanh(at::addmm(SpreadRows(from_context, index), x, at("hidden.job").t()));
    const at::Tensor pool = SumRows(h, index, decisions) * share;
    const at::Tensor from_pool = at::addmm(at("out.bias"), pool, at("out.pool").t());
    return {at::addmm(SpreadRows(from_pool, index), h, at("out.job").t()),
            at::addmm(at("done.bias"), pool, at("done.pool").t()).select(1, 0)};
  }

  // Between the two tensors and one line of logits per decision.
  template <typename Move>
  void ForEach(const SequenceBatch& batch, float* of_rows, float* done, const Move& move) const {
    for (std::size_t d = 0; d + 1 < batch.first_row.size(); ++d) {
      const std::int64_t begin = batch.first_row[d] * kinds;
      const std::int64_t end = batch.first_row[d + 1] * kinds;
      const auto line = begin + static_cast<std::int64_t>(d);
      move(line, of_rows + begin, end - begin);
      move(line + end - begin, done + d, 1);
    }
  }

  std::vector<float> InLine(const SequenceBatch& batch, const Logits& logits) const {
    const at::Tensor of_rows = logits.of_rows.contiguous();
    const at::Tensor done = logits.done.contiguous();
    std::vector<float> line(static_cast<std::size_t>(of_rows.numel() + done.numel()));
    ForEach(batch, of_rows.data_ptr<float>(), done.data_ptr<float>(),
            [&](std::int64_t at, const float* from, std::int64_t count) {
              std::copy_n(from, count, line.begin() + at);
            });
    return line;
  }
};

SequenceModule::SequenceModule(const NetWeights& weights) : impl_(std::make_unique<Impl>()) {
  const std::string origin = "sequence network";
  CheckSequenceNet(weights, origin);
  const auto size = [&](const char* key) { return SizeOf(weights, key, origin); };
  impl_->kind = weights.kind;
  impl_->job_features = size("job_features");
  impl_->kinds = size("kinds");
  if (weights.kind == kFlatKind) {
    impl_->window = size("window");
  } else {
    impl_->context_features = size("context_features");
  }
  for (const auto& [name, tensor] : weights.tensors) {
    impl_->parameters.emplace(name, at::empty(tensor.shape, at::kFloat));
  }
  SetWeights(weights);
}

SequenceModule::~SequenceModule() = default;

void SequenceModule::SetWeights(const NetWeights& weights) {
  for (auto& [name, tensor] : impl_->parameters) {
    std::ranges::copy(weights[name].data, tensor.data_ptr<float>());
  }
}

std::vector<float> SequenceModule::Forward(const SequenceBatch& batch) const {
  const at::NoGradGuard no_grad;
  return impl_->InLine(batch, impl_->Forward(impl_->parameters, batch));
}

Gradient SequenceModule::ComputeGradient(const SequenceBatch& batch, const OutputLoss& loss) const {
  const Parameters leaves = impl_->Leaves();
  const Logits logits = impl_->Forward(leaves, batch);
  const std::vector<float> line = impl_->InLine(batch, logits);
  std::vector<float> upstream(line.size(), 0.0F);
  Gradient gradient;
  gradient.loss = loss(line, upstream);

  const at::Tensor of_rows = at::empty(logits.of_rows.sizes());
  const at::Tensor done = at::empty(logits.done.sizes());
  impl_->ForEach(batch, of_rows.data_ptr<float>(), done.data_ptr<float>(),
                 [&](std::int64_t at, float* to, std::int64_t count) {
                   std::copy_n(upstream.begin() + at, count, to);
                 });
  torch::autograd::variable_list inputs;
  for (const auto& [name, leaf] : leaves) inputs.push_back(leaf);
  const auto gradients =
      torch::autograd::grad({logits.of_rows, logits.done}, inputs, {of_rows, done});
  std::size_t i = 0;
  for (const auto& [name, leaf] : leaves) {
    const at::Tensor values = gradients[i++].contiguous();
    const float* data = values.data_ptr<float>();
    gradient.tensors.emplace(
        name, Tensor{leaf.sizes().vec(), std::vector<float>(data, data + values.numel())});
  }
  return gradient;
}

}  // namespace allot
