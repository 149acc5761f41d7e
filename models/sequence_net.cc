#include "models/sequence_net.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/error.h"
#include "core/rng.h"
#include "models/tensor_views.h"

namespace allot {
namespace {

VectorView AsVector(std::span<const float> values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

NetWeights ZeroFlat(const FlatNetShape& s) {
  NetWeights weights;
  weights.kind = kFlatKind;
  weights.sizes = {{"window", s.window},
                   {"job_features", s.job_features},
                   {"hidden", s.hidden},
                   {"kinds", s.kinds}};
  const int inputs = s.window * s.job_features;
  const int outputs = s.window * s.kinds + 1;
  weights.tensors = {
      {"first.weight", ZeroTensor({s.hidden, inputs})},    {"first.bias", ZeroTensor({s.hidden})},
      {"second.weight", ZeroTensor({s.hidden, s.hidden})}, {"second.bias", ZeroTensor({s.hidden})},
      {"out.weight", ZeroTensor({outputs, s.hidden})},     {"out.bias", ZeroTensor({outputs})}};
  return weights;
}

NetWeights ZeroShared(const SharedNetShape& s) {
  NetWeights weights;
  weights.kind = kSharedKind;
  weights.sizes = {{"job_features", s.job_features},
                   {"context_features", s.context_features},
                   {"hidden", s.hidden},
                   {"kinds", s.kinds}};
  weights.tensors = {{"hidden.job", ZeroTensor({s.hidden, s.job_features})},
                     {"hidden.context", ZeroTensor({s.hidden, s.context_features})},
                     {"hidden.bias", ZeroTensor({s.hidden})},
                     {"out.job", ZeroTensor({s.kinds, s.hidden})},
                     {"out.pool", ZeroTensor({s.kinds, s.hidden})},
                     {"out.bias", ZeroTensor({s.kinds})},
                     {"done.pool", ZeroTensor({1, s.hidden})},
                     {"done.bias", ZeroTensor({1})}};
  return weights;
}

void DrawNormal(NetWeights* weights, double gain, std::uint64_t seed) {
  std::uint64_t stream = 0;
  for (auto& [name, tensor] : weights->tensors) {
    if (tensor.shape.size() < 2) continue;  // biases stay 0
    const bool last = name.starts_with("out.") || name.starts_with("done.");
    const double deviation =
        gain / std::sqrt(static_cast<double>(tensor.shape.at(1))) * (last ? 0.1 : 1.0);
    Rng rng(seed, "sequence-net-init", stream++);
    for (float& value : tensor.data) value = static_cast<float>(deviation * rng.Normal());
  }
}

class FlatNet : public SequenceNet {
 public:
  explicit FlatNet(const NetWeights& w)
      : first_(AsMatrix(w["first.weight"])),
        second_(AsMatrix(w["second.weight"])),
        out_(AsMatrix(w["out.weight"])),
        first_bias_(AsVector(w["first.bias"])),
        second_bias_(AsVector(w["second.bias"])),
        out_bias_(AsVector(w["out.bias"])) {}

  void Forward(std::span<const float> jobs, std::span<const float>, std::span<float> logits,
               Scratch* scratch) const override {
    ALLOT_CHECK_EQ(static_cast<Eigen::Index>(jobs.size()), first_.cols());
    ALLOT_CHECK_EQ(static_cast<Eigen::Index>(logits.size()), out_.rows());
    scratch->a = first_bias_;
    scratch->a.noalias() += first_ * AsVector(jobs);
    scratch->a = scratch->a.cwiseMax(0.0F);
    scratch->b = second_bias_;
    scratch->b.noalias() += second_ * scratch->a;
    scratch->b = scratch->b.cwiseMax(0.0F);
    Eigen::Map<Eigen::VectorXf> out(logits.data(), out_.rows());
    out = out_bias_;
    out.noalias() += out_ * scratch->b;
  }

 private:
  Eigen::MatrixXf first_, second_, out_;
  Eigen::VectorXf first_bias_, second_bias_, out_bias_;
};

class SharedNet : public SequenceNet {
 public:
  explicit SharedNet(const NetWeights& w)
      : from_job_(AsMatrix(w["hidden.job"])),
        from_context_(AsMatrix(w["hidden.context"])),
        out_from_job_(AsMatrix(w["out.job"])),
        out_from_pool_(AsMatrix(w["out.pool"])),
        done_from_pool_(AsMatrix(w["done.pool"])),
        bias_(AsVector(w["hidden.bias"])),
        out_bias_(AsVector(w["out.bias"])),
        done_bias_(w["done.bias"].data.at(0)) {}

  void Forward(std::span<const float> jobs, std::span<const float> context, std::span<float> logits,
               Scratch* scratch) const override {
    const Eigen::Index n = static_cast<Eigen::Index>(jobs.size()) / from_job_.cols();
    const Eigen::Index kinds = out_bias_.size();
    ALLOT_CHECK_EQ(static_cast<Eigen::Index>(jobs.size()), n * from_job_.cols());
    ALLOT_CHECK_EQ(static_cast<Eigen::Index>(context.size()), from_context_.cols());
    ALLOT_CHECK_EQ(static_cast<Eigen::Index>(logits.size()), n * kinds + 1);
    scratch->a = bias_;
    scratch->a.noalias() += from_context_ * AsVector(context);
    // Job by job, so that a job's numbers do not depend on the other jobs.
    scratch->hidden.resize(bias_.size(), n);
    scratch->b = Eigen::VectorXf::Zero(bias_.size());
    for (Eigen::Index i = 0; i < n; ++i) {
      auto h = scratch->hidden.col(i);
      h = scratch->a;
      h.noalias() += from_job_ * Eigen::Map<const Eigen::VectorXf>(
                                     jobs.data() + i * from_job_.cols(), from_job_.cols());
      h = h.array().tanh();
      scratch->b += h;
    }
    if (n > 0) scratch->b /= static_cast<float>(n);
    logits[logits.size() - 1] = done_from_pool_.row(0).dot(scratch->b) + done_bias_;
    scratch->a = out_bias_;
    scratch->a.noalias() += out_from_pool_ * scratch->b;
    for (Eigen::Index i = 0; i < n; ++i) {
      Eigen::Map<Eigen::VectorXf> out(logits.data() + i * kinds, kinds);
      out = scratch->a;
      out.noalias() += out_from_job_ * scratch->hidden.col(i);
    }
  }

 private:
  Eigen::MatrixXf from_job_, from_context_, out_from_job_, out_from_pool_, done_from_pool_;
  Eigen::VectorXf bias_, out_bias_;
  float done_bias_;
};

}  // namespace

NetWeights InitFlatNet(const FlatNetShape& shape, std::uint64_t seed) {
  NetWeights weights = ZeroFlat(shape);
  DrawNormal(&weights, std::sqrt(2.0), seed);
  return weights;
}

NetWeights InitSharedNet(const SharedNetShape& shape, std::uint64_t seed) {
  NetWeights weights = ZeroShared(shape);
  DrawNormal(&weights, 1.0, seed);
  return weights;
}

NetWeights InitLike(const NetWeights& weights, std::uint64_t seed) {
  NetWeights fresh = weights;
  for (auto& [name, tensor] : fresh.tensors) tensor = ZeroTensor(tensor.shape);
  DrawNormal(&fresh, weights.kind == kFlatKind ? std::sqrt(2.0) : 1.0, seed);
  return fresh;
}

void CheckSequenceNet(const NetWeights& weights, const std::string& origin) {
  const auto size = [&](const char* key) { return SizeOf(weights, key, origin); };
  const bool flat = weights.kind == kFlatKind;
  ALLOT_CHECK(flat || weights.kind == kSharedKind);
  const NetWeights needed =
      flat ? ZeroFlat({size("window"), size("job_features"), size("hidden"), size("kinds")})
           : ZeroShared(
                 {size("job_features"), size("context_features"), size("hidden"), size("kinds")});
  RequireSameLayout(weights.tensors, needed.tensors, origin);
}

std::unique_ptr<SequenceNet> MakeSequenceNet(const NetWeights& weights) {
  if (weights.kind == kFlatKind) return std::make_unique<FlatNet>(weights);
  ALLOT_CHECK(weights.kind == kSharedKind);
  return std::make_unique<SharedNet>(weights);
}

}  // namespace allot
