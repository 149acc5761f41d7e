#pragma once
// Index action: three numbers per job (u, beta, kappa), once per decision -> Allocation, by the
// hull fill and a placement stage. What the index network, its training and the environment share.

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "sched/stages.h"
#include "stages/fill/typed_fill.h"

namespace allot {

inline constexpr int kIndexOutputs = 3;  // u, beta, kappa

inline constexpr float kScoreBound = 100.0F;

// Beyond +-kScoreBound or infinite: the bound; NaN: 0. What a network may answer is so made safe.
Score BoundedScore(const Score& score);

class IndexAction {
 public:
  explicit IndexAction(std::string_view placement = "packed", HullFillOptions options = {});

  // scores[i] belongs to row i and counts as its BoundedScore.
  void Decode(const Observation& observation, std::span<const Score> scores,
              Allocation* allocation);
  // The same from a network's output, rows x kIndexOutputs.
  void Decode(const Observation& observation, std::span<const float> outputs,
              Allocation* allocation);

 private:
  TypedFill fill_;
  std::unique_ptr<Placement> placement_;
  std::vector<std::int32_t> rows_;
  std::vector<Score> scores_;
  std::vector<Grant> grants_;
};

}  // namespace allot
