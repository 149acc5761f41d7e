#pragma once
// The seam for rewards: one file per reward in this folder registers a RewardInfo.

#include <functional>
#include <string>
#include <string_view>

#include "cluster/observation.h"
#include "core/registry.h"
#include "sim/simulated_cluster.h"

namespace allot {

// Reward of one decision: what happened from it to the next one. `after` is the snapshot at the
// next decision. Pure.
using RewardFunction = std::function<double(const StepFacts& step, const Observation& after)>;

struct RewardInfo {
  std::string id;
  std::string summary;  // with unit and what the episode's sum means
  RewardFunction compute;
};

inline const RewardInfo& GetReward(std::string_view id) {
  return Registry<RewardInfo>::Global().Get("reward", id);
}

}  // namespace allot
