#pragma once
// Networks that say which increment comes next: a row of numbers per job slot and a context in, one
// logit per action out (slot x kinds + kind, then "done"). Here lives the torch-free forward pass
// that rollouts and the daemon use; models/torch/sequence_module trains the same parameters under
// the same names. Two architectures:
//
//   flat (DL2):  logits = W3 relu(W2 relu(W1 x + b1) + b2) + b3, x all slots' rows in a line
//   shared:      h_i = tanh(Wj x_i + Wc c + b) of every job; p = mean of all h_i
//                logit(i, k) = Vj h_i + Vp p + v, logit(done) = Dp p + d
//
// The shared one takes any number of jobs, in any order.

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "models/net_weights.h"

namespace allot {

inline constexpr std::string_view kFlatKind = "flat";
inline constexpr std::string_view kSharedKind = "shared";

struct FlatNetShape {
  int window = 0;        // job slots
  int job_features = 0;  // of a slot
  int hidden = 0;        // of each of the two layers
  int kinds = 0;
};
struct SharedNetShape {
  int job_features = 0;
  int context_features = 0;
  int hidden = 0;
  int kinds = 0;
};

// Normal weights of deviation sqrt(2 / fan in) (flat) and 1 / sqrt(fan in) (shared), the last layer
// a tenth of that: at first all actions are about equally likely.
NetWeights InitFlatNet(const FlatNetShape& shape, std::uint64_t seed);
NetWeights InitSharedNet(const SharedNetShape& shape, std::uint64_t seed);

// Fresh weights of the same kind and sizes.
NetWeights InitLike(const NetWeights& weights, std::uint64_t seed);

// DataError that opens with `origin` unless the tensors are those of kind and sizes.
void CheckSequenceNet(const NetWeights& weights, const std::string& origin);

class SequenceNet {
 public:
  // Working memory of one caller; sized by the first Forward, reused afterwards.
  struct Scratch {
    Eigen::VectorXf a;
    Eigen::VectorXf b;
    Eigen::MatrixXf hidden;
  };

  virtual ~SequenceNet() = default;
  // `jobs` is slots x job features, row-major; `logits` as many as there are actions. Safe from any
  // number of threads with a Scratch each.
  virtual void Forward(std::span<const float> jobs, std::span<const float> context,
                       std::span<float> logits, Scratch* scratch) const = 0;
};

std::unique_ptr<SequenceNet> MakeSequenceNet(const NetWeights& weights);

}  // namespace allot
