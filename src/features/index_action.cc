#include "features/index_action.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/check.h"

namespace allot {
namespace {

float Saturated(float value) {
  return std::isnan(value) ? 0.0F : std::clamp(value, -kScoreBound, kScoreBound);
}

}  // namespace

Score BoundedScore(const Score& score) {
  return {Saturated(score.u), Saturated(score.beta), Saturated(score.kappa)};
}

IndexAction::IndexAction(std::string_view placement, HullFillOptions options)
    : fill_(std::move(options)), placement_(MakeStage<Placement>("placement", placement)) {}

void IndexAction::Decode(const Observation& observation, std::span<const Score> scores,
                         Allocation* allocation) {
  ALLOT_CHECK_EQ(scores.size(), observation.job.size());
  rows_.resize(scores.size());
  std::iota(rows_.begin(), rows_.end(), 0);
  scores_.clear();
  for (const Score& score : scores) scores_.push_back(BoundedScore(score));
  grants_.clear();
  fill_.Fill(observation, rows_, scores_, &grants_);
  placement_->Place(observation, grants_, allocation);
}

void IndexAction::Decode(const Observation& observation, std::span<const float> outputs,
                         Allocation* allocation) {
  ALLOT_CHECK_EQ(outputs.size(), observation.job.size() * kIndexOutputs);
  const auto* scores = reinterpret_cast<const Score*>(outputs.data());
  static_assert(sizeof(Score) == kIndexOutputs * sizeof(float));
  Decode(observation, std::span(scores, observation.job.size()), allocation);
}

}  // namespace allot
