#pragma once
// The sequence networks in libtorch: the same parameters under the same names as
// models/sequence_net, with gradients by autograd. Trainers call it; no torch type appears here.
// ConfigureTorch() comes first.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/net_weights.h"
#include "models/torch/index_module.h"

namespace allot {

// D decisions by reference; the rows of decision d are [first_row[d], first_row[d + 1]).
struct SequenceBatch {
  std::span<const float> jobs;              // rows x job features
  std::span<const float> contexts;          // [D, context features]
  std::span<const std::int64_t> first_row;  // D + 1
};

class SequenceModule {
 public:
  explicit SequenceModule(const NetWeights& weights);
  ~SequenceModule();

  void SetWeights(const NetWeights& weights);  // of the same kind and sizes

  // The logits of each decision one after the other: rows x kinds, then "done".
  std::vector<float> Forward(const SequenceBatch& batch) const;
  // As IndexModule's: callable from several threads at once; depends on its arguments only.
  Gradient ComputeGradient(const SequenceBatch& batch, const OutputLoss& loss) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot
