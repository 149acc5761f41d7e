#pragma once
// What rules say of nodes and GPUs that a live cluster has not: it is no error there, as nodes may
// come later, but mostly a mistyped name. Asked by LiveCluster once it knows the nodes.

#include <span>
#include <string>
#include <vector>

#include "cluster/cluster_spec.h"
#include "cluster/operator_rules.h"
#include "live/runtimes/runtime.h"

namespace allot {

// One text for each, for the log. `cluster`: of these nodes.
std::vector<std::string> RuleWarnings(const OperatorRules& rules,
                                      std::span<const RuntimeNode> nodes,
                                      const ClusterSpec& cluster);

}  // namespace allot
