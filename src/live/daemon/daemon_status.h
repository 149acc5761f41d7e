#pragma once
// How a daemon fills its status (live/status/status.h), for the control server and `allot serve`.

#include <span>

#include "live/daemon/daemon.h"

namespace allot {

// The status of this moment. Time and memory are O(jobs + nodes).
DaemonStatus MakeStatus(const LiveCluster& cluster, const DecisionCounts& decisions,
                        const DaemonOptions& options,
                        std::span<const StatusPart* const> parts = {});

}  // namespace allot
