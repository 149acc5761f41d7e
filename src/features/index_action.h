#pragma once
// Index action: three numbers per job (u, beta, kappa), once per decision -> Allocation, by the
// hull fill and a placement stage. What the index network, its training and the environment share.

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "sched/hull_fill.h"
#include "sched/stages.h"

namespace allot {

inline constexpr int kIndexOutputs = 3;  // u, beta, kappa

class IndexAction {
 public:
  explicit IndexAction(std::string_view placement = "packed", HullFillOptions options = {});

  // scores[i] belongs to row i; values beyond +-kScoreBound or not finite count as the bound (0 for
  // NaN).
  void Decode(const Observation& observation, std::span<const Score> scores,
              Allocation* allocation);
  // The same from a network's output, rows x kIndexOutputs.
  void Decode(const Observation& observation, std::span<const float> outputs,
              Allocation* allocation);

 private:
  HullFill fill_;
  std::unique_ptr<Placement> placement_;
  std::vector<std::int32_t> rows_;
  std::vector<Score> scores_;
  std::vector<Grant> grants_;
};

inline constexpr float kScoreBound = 100.0F;

}  // namespace allot
