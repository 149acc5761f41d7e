#pragma once
// The nodes that what-if adds to a cluster: their number and types, and how many a target needs.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/cluster_spec.h"
#include "perf/load_by_type.h"
#include "report/whatif.h"

namespace allot {

// Adds a number of nodes of kinds that the cluster has. Each gets the type with the highest load so
// far (`loads`, as of LoadByType) and the most frequent kind of that type; without loads, or with
// equal ones, the most frequent kind of the cluster. UsageError for a number outside of 1 to
// 100,000.
ClusterSpec LikeNodes(const ClusterSpec& cluster, const std::vector<TypeLoad>& loads,
                      std::int64_t nodes);

// Parses --more-nodes. "" stands for a tenth of the cluster's nodes, at least one; a number for so
// many (LikeNodes); any other text for parts of a cluster ("4x8:a100").
ClusterSpec AddedNodes(const ClusterSpec& cluster, const std::vector<TypeLoad>& loads,
                       const std::string& more_nodes);

// A note on types of the added nodes that no job accepts; "" without such.
std::string UnwantedTypes(const Workload& workload, const ClusterSpec& added);

// The smallest number from 0 to `most` for which `reaches` is true; nullopt if it is false for
// `most`. Searches by bisection, assuming that more nodes never make it false.
std::optional<std::int64_t> FewestNodes(std::int64_t most,
                                        const std::function<bool(std::int64_t)>& reaches);

// The number of nodes (LikeNodes) for a mean wait of at most `target`. `wait_with` returns the mean
// wait with some nodes; `present` is the mean wait without any.
WhatIfTarget SearchTarget(Seconds target, Seconds present, const ClusterSpec& cluster,
                          const std::vector<TypeLoad>& loads,
                          const std::function<Seconds(const ClusterSpec& added)>& wait_with);

}  // namespace allot
