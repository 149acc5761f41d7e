#pragma once
// The rules of a legal allocation, pure; every cluster and the action mask use these.

#include "cluster/allocation.h"
#include "cluster/observation.h"
#include "core/error.h"

namespace allot {

// Checks: entries name rows of the observation, each job once; configurations exist in the job's
// table; shares add up to the configuration's units, sit on nodes of its GPU type, name GPUs that
// the node has, as many as the units demand; no GPU or CPU is given twice. What a job holds
// already is taken to add up. The message names rule and values. O(rows + shares), and no memory is
// allocated once a thread has seen the cluster and the workload.
Status ValidateAllocation(const Observation& observation, const Allocation& allocation);

}  // namespace allot
