#pragma once
// A policy made of stages. Most heuristics are one line of this: a name for a composition.

#include <memory>
#include <string>
#include <vector>

#include "sched/policy.h"
#include "sched/stages.h"

namespace allot {

// Stages by spec ("requested", or with parameters "requested:backfill=false").
struct StageSpecs {
  std::string admission = "accept-all";
  std::string ordering;
  std::string types = "exact";
  std::string sizing = "requested";
  std::string placement = "packed";
};

// A PolicyInfo whose policy is the composition. Each stage is also a parameter of the policy, so
// that it can be exchanged: "las:sizing=hull" or, with parameters of its own,
// "las:sizing=hull/alpha=0.5". `ordering_params` are handed on to the default ordering
// ("las:queues=3600").
PolicyInfo StagedPolicyInfo(std::string id, std::string summary, const StageSpecs& stages,
                            const std::vector<ParamSpec>& ordering_params = {});

}  // namespace allot
