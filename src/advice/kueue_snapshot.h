#pragma once
// Kueue's ClusterQueues as queues of advice, from what its API lists. Pure.
//
// A queue is a ClusterQueue, a user is a LocalQueue ("team-a/main"), and a Nice of 3 is the
// annotation kueue.x-k8s.io/priority-boost=-3 of a Workload (Kueue's KEP-7990). Kueue admits the
// largest sum of priority and boost first, of equal ones the one that is older. Kueue counts
// quotas, not nodes, so the cluster of a queue is its quota of GPUs.
//
// A boost stays where a Workload runs. So queues are left alone where it would count then: where
// running Workloads are preempted by priority, within the ClusterQueue or from another one of a
// cohort; and where a queue is ordered by usage.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "advice/advised_queue.h"

namespace allot {

inline constexpr const char* kPriorityBoost = "kueue.x-k8s.io/priority-boost";

// Lists of objects of kueue.x-k8s.io, v1beta1 or v1beta2.
struct KueueLists {
  std::vector<nlohmann::json> cluster_queues;
  std::vector<nlohmann::json> local_queues;
  std::vector<nlohmann::json> workloads;
};

// Queues in which Workloads wait, and have a quota of GPUs. `only`: names of ClusterQueues; empty:
// all. UsageError where one of them is no ClusterQueue with GPUs. O(n log n) in objects.
AdviceSnapshot KueueSnapshot(const KueueLists& lists, const std::vector<std::string>& only,
                             Seconds now);

// Workloads that have ended and are still listed, with their LocalQueues as users.
Workload KueuePast(const KueueLists& lists);

}  // namespace allot
