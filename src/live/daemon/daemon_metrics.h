#pragma once
// The metrics of a daemon for Prometheus (docs/metrics.md).

#include <string>

#include "live/port/keep_on_error_policy.h"
#include "live/port/live_cluster.h"

namespace allot {

// The metrics of this moment, in Prometheus' text format 0.0.4.
std::string MetricsText(const LiveCluster& cluster, const DecisionCounts& decisions);

}  // namespace allot
