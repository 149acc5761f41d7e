#pragma once
// The index network: one small net, shared by all jobs, that turns a job's features and the pooled
// context of one decision into that job's scores. Order and number of jobs are free.
//
//   z = Wj x + Wc c + b        h = tanh(z)        out = Oh h + Oj x + Oc c + ob
//
// The skip weights Oj, Oc, ob alone express every heuristic of the weighted alpha-fair family,
// hence training starts at one of them. Here lives the torch-free forward pass that rollouts and
// the daemon use; models/torch trains the same parameters under the same names.

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <string_view>

#include "models/net_weights.h"

namespace allot {

struct IndexNetShape {
  int job_features = 0;      // F, length of x
  int context_features = 0;  // C, length of c
  int hidden = 0;            // H
  int outputs = 0;           // O
  bool operator==(const IndexNetShape&) const = default;
};

inline constexpr std::string_view kIndexKind = "index";  // NetWeights::kind

// Parameter names, equal in checkpoints, optimiser state and libtorch.
namespace index_net {
inline constexpr std::string_view kHiddenJob = "hidden.job";          // Wj [H, F]
inline constexpr std::string_view kHiddenContext = "hidden.context";  // Wc [H, C]
inline constexpr std::string_view kHiddenBias = "hidden.bias";        // b  [H]
inline constexpr std::string_view kOutHidden = "out.hidden";          // Oh [O, H]
inline constexpr std::string_view kOutJob = "out.job";                // Oj [O, F]
inline constexpr std::string_view kOutContext = "out.context";        // Oc [O, C]
inline constexpr std::string_view kOutBias = "out.bias";              // ob [O]
}  // namespace index_net

struct IndexNetWeights : NetWeights {
  IndexNetWeights() = default;
  explicit IndexNetWeights(const IndexNetShape& net_shape);  // all zero; every size must be >= 1
  // Of a network's kind "index"; DataError that opens with `origin` unless sizes and tensors fit
  // together.
  explicit IndexNetWeights(NetWeights weights, const std::string& origin = "index network");
  bool operator==(const IndexNetWeights&) const = default;

  IndexNetShape shape;
};

// Wj and Wc drawn from N(0, 0.4 / sqrt(fan in)), all else zero: outputs are 0 until the caller sets
// the skip weights of the heuristic to start from.
IndexNetWeights InitIndexNet(const IndexNetShape& shape, std::uint64_t seed);

class IndexNet {
 public:
  // Working memory of one caller; sized by the first Forward, reused without allocation afterwards.
  struct Scratch {
    Eigen::VectorXf context;  // what the context adds to every job
    Eigen::VectorXf row;
  };

  explicit IndexNet(const IndexNetWeights& weights);
  const IndexNetShape& shape() const { return shape_; }

  // `jobs` is n x F and `out` n x O, row-major, n >= 0; `context` has C values. Safe from any
  // number of threads with a Scratch each. A job's scores are bit-equal whatever the other jobs and
  // its place.
  void Forward(std::span<const float> jobs, std::span<const float> context, std::span<float> out,
               Scratch* scratch) const;

 private:
  // Stacked and transposed for one pass per job: rows [0, padded_hidden_) are hidden units, the
  // padded_outputs_ rows after them the skip connections; both padded with zeros to whole SIMD
  // packets.
  IndexNetShape shape_;
  Eigen::Index padded_hidden_ = 0;
  Eigen::Index padded_outputs_ = 0;
  Eigen::MatrixXf from_job_;
  Eigen::MatrixXf from_context_;
  Eigen::VectorXf bias_;
  Eigen::MatrixXf out_from_hidden_;
};

}  // namespace allot
