#pragma once
// A policy that shares the cluster over time: admission, a sharing, rounds, and a placement.

#include <memory>
#include <string>

#include "sched/policy.h"
#include "stages/rounds/rounds.h"
#include "stages/rounds/sharing.h"

namespace allot {

// Stages by spec, as in StageSpecs (stages/staged_policy.h).
struct SharedSpecs {
  std::string admission = "accept-all";
  std::string sharing;
  std::string placement = "packed";
};

// A PolicyInfo whose policy is the composition, each stage a parameter of it, and the options of
// the rounds: "shared:sharing=isolated,placement=consolidated,reset=1800". Asked every interval: a
// round is one.
PolicyInfo SharedPolicyInfo(std::string id, std::string summary, const SharedSpecs& stages);

// The same policy with this sharing in the place of the one that `params` names.
std::unique_ptr<Policy> MakeSharedPolicy(PolicyInfo info, const Params& params,
                                         std::unique_ptr<Sharing> sharing);

// Of the parameters of such a policy; UsageError naming the parameter and the values it may have.
RoundsOptions RoundsOptionsOf(const Params& params);

}  // namespace allot
