#pragma once
// A policy for a real cluster: any that is registered, but those that need to know the future.
// Called by 'allot serve' and by the C interface (plugin/decider.h).

#include <memory>
#include <string_view>

#include "sched/policy.h"

namespace allot {

// As MakePolicy. UsageError for a policy whose info says `oracle`.
std::unique_ptr<Policy> MakeOnlinePolicy(std::string_view spec, const ParamLoader& loader = {});

}  // namespace allot
