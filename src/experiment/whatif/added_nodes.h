#pragma once
// Nodes that what-if adds to a cluster: how many and of which type, and how many a target needs.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/cluster_spec.h"
#include "perf/load_by_type.h"
#include "report/whatif.h"

namespace allot {

// A number of nodes of kinds that the cluster has. Each goes to the type that is then asked for
// most (`loads`, as LoadByType), of the kind that most nodes of that type are; without loads, or
// where types are equally loaded, to the kind that most nodes of the cluster are. UsageError for a
// number outside of 1 to 100,000.
ClusterSpec LikeNodes(const ClusterSpec& cluster, const std::vector<TypeLoad>& loads,
                      std::int64_t nodes);

// "" means a tenth of the cluster's nodes, at least one; a number so many (LikeNodes); any other
// text parts of a cluster ("4x8:a100").
ClusterSpec AddedNodes(const ClusterSpec& cluster, const std::vector<TypeLoad>& loads,
                       const std::string& more_nodes);

// A note on types of the added nodes that no job accepts; "" for none.
std::string UnwantedTypes(const Workload& workload, const ClusterSpec& added);

// The smallest number from 0 to `most` for which `reaches` is true, if it is for `most`; asked for
// few numbers, taking that more nodes never make it false again. nullopt: for none.
std::optional<std::int64_t> FewestNodes(std::int64_t most,
                                        const std::function<bool(std::int64_t)>& reaches);

// How many nodes (LikeNodes) a mean wait of at most `target` needs, where `wait_with` tells the
// mean wait with some; `present` is that without any.
WhatIfTarget SearchTarget(Seconds target, Seconds present, const ClusterSpec& cluster,
                          const std::vector<TypeLoad>& loads,
                          const std::function<Seconds(const ClusterSpec& added)>& wait_with);

}  // namespace allot
