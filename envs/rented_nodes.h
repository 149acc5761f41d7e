#pragma once
// Parameters of settings whose cluster can be rented node by node (sim/autoscaler.h).

#include <vector>

#include "core/params.h"
#include "sim/scenario.h"

namespace allot {

// These, and 'autoscale' and 'node-price'.
std::vector<ParamSpec> WithRentedNodes(std::vector<ParamSpec> params);
// UsageError as MakeAutoscaler.
void ReadRentedNodes(const Params& params, SimOptions* options);

}  // namespace allot
