#pragma once
// A policy that shares the cluster over time: admission, a sharing, rounds, and a placement.

#include <string>

#include "sched/policy.h"

namespace allot {

// Stages by spec, as in StageSpecs (stages/staged_policy.h).
struct SharedSpecs {
  std::string admission = "accept-all";
  std::string sharing;
  std::string placement = "packed";
};

// A PolicyInfo whose policy is the composition, each stage a parameter of it:
// "shared:sharing=isolated,placement=consolidated". Asked every interval: a round is one.
PolicyInfo SharedPolicyInfo(std::string id, std::string summary, const SharedSpecs& stages);

}  // namespace allot
