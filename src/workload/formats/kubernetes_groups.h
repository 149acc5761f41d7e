#pragma once
// Which Jobs, pods and Workloads of Kueue belong together: what one controller made is one job.

#include <deque>
#include <string>
#include <vector>

#include "workload/formats/kubernetes_objects.h"

namespace allot {

struct KubeGroup {
  std::vector<const KubePart*> jobs, pods, workloads;
  // A JobSet or another controller is above the Jobs, and they are parts of one job.
  bool set = false;
};

// Leaves out earlier states of an object that is there several times; `older` gets them. What
// remains keeps its order.
std::vector<const KubePart*> NewestStates(const std::deque<KubePart>& parts,
                                          std::vector<const KubePart*>* older);

// In the order of their first parts.
std::vector<KubeGroup> GroupKubeParts(const std::vector<const KubePart*>& parts);

}  // namespace allot
