#pragma once
// The option --oversized: the treatment of jobs that ask for more GPUs than the cluster has of any
// type that they accept, or for more host memory or CPUs than its nodes have.

#include <string>
#include <string_view>

#include "cluster/cluster_spec.h"
#include "workload/trace_reader.h"

namespace allot {

// Names of the counts of dropped jobs. Jobs whose type the cluster lacks are also counted by type
// in ReadReport::lacking_types.
inline constexpr std::string_view kMemoryIsLacking =
    "asks for GPUs with more memory than the cluster's (--oversized drop)";
inline constexpr std::string_view kRoomIsLacking =
    "asks for more GPUs than the cluster has (--oversized drop)";

inline constexpr std::string_view kNodesAreTooSmall =
    "asks for more GPUs in a pod than a node has (--oversized drop)";
inline constexpr std::string_view kHostsAreTooSmall =
    "asks for more host memory or CPUs than the nodes of the cluster have (--oversized drop)";

// "error" changes nothing, and the simulation reports the first such job. "drop" leaves them out,
// also those that accept no type of the cluster. "clip" reduces their demand to what the cluster
// has and makes them run longer, so that their GPU time stays the same.
enum class Oversized { kError, kDrop, kClip };
Oversized OversizedNamed(const std::string& name);  // UsageError

// True if some job does not fit the cluster.
bool AnyOversized(const Workload& workload, const ClusterSpec& cluster);

// Counts changes in `report`. DataError if no job is left.
void FitToCluster(Oversized oversized, const ClusterSpec& cluster, Workload* workload,
                  ReadReport* report);

}  // namespace allot
