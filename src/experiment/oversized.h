#pragma once
// What becomes of jobs that ask for more GPUs than the cluster has of any type that they accept, or
// for more host memory or CPUs than its nodes have: --oversized.

#include <string>
#include <string_view>

#include "cluster/cluster_spec.h"
#include "workload/trace_reader.h"

namespace allot {

// What drops are counted as. Those whose type the cluster lacks name it, and stand in
// ReadReport::lacking_types as well.
inline constexpr std::string_view kMemoryIsLacking =
    "asks for GPUs with more memory than the cluster's (--oversized drop)";
inline constexpr std::string_view kRoomIsLacking =
    "asks for more GPUs than the cluster has (--oversized drop)";

inline constexpr std::string_view kNodesAreTooSmall =
    "asks for more GPUs in a pod than a node has (--oversized drop)";
inline constexpr std::string_view kHostsAreTooSmall =
    "asks for more host memory or CPUs than the nodes of the cluster have (--oversized drop)";

// "error": nothing here, the simulation names the first one. "drop": they are left out, also those
// that accept no type of the cluster. "clip": they ask for what there is and run longer by as much,
// so that their GPU time stays.
enum class Oversized { kError, kDrop, kClip };
Oversized OversizedNamed(const std::string& name);  // UsageError

// Whether some job does not fit the cluster.
bool AnyOversized(const Workload& workload, const ClusterSpec& cluster);

// Counts in `report` what it does. DataError where no job is left.
void FitToCluster(Oversized oversized, const ClusterSpec& cluster, Workload* workload,
                  ReadReport* report);

}  // namespace allot
