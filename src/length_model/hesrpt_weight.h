#pragma once
// How much of the queue a job outranks, as a logarithm: the weight that heSRPT gives it (Berg,
// Vesilo, Harchol-Balter: heSRPT, Performance Evaluation 2020, theorem 1). With n jobs of speed k^p
// and known sizes the best split of a cluster maximises sum w_i k_i^p, where w is about the p-th
// power of the share of jobs that remain at least as long: u = p ln share. Used by the policy
// 'index' and by the feature encoder.

#include <span>
#include <vector>

#include "core/ranks.h"
#include "core/types.h"

namespace allot {

class HesrptWeight {
 public:
  // By row ln((n - i) / n), i = number of rows that come before it by (value, job): 0 for the least
  // value, -ln n for the largest. NaN comes last. Valid until the next call. O(n log n); no
  // allocation in steady state.
  const std::vector<float>& Of(std::span<const float> values, std::span<const JobIndex> jobs);

 private:
  Ranks ranks_;
  std::vector<float> ln_;  // ln_[k] = ln k
  std::vector<float> shares_;
};

}  // namespace allot
