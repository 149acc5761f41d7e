#pragma once
// Pairs of simulated jobs on the same GPUs, of which each is charged with half. Who is whose
// partner stands in the observation (Observation::partner); these functions keep it and the slots
// in step. Used by SimulatedCluster where a policy answers partners. O(rows).

#include "cluster/allocation.h"
#include "sim/simulated_jobs.h"

namespace allot {

// Takes the partners of an answer whose entries are, at least, the jobs that were given something.
void FollowPartners(const Allocation& allocation, SimulatedJobs* jobs);
// Jobs whose partner has stopped or ended are alone from now on, on all of their GPUs.
void PartFromPartners(SimulatedJobs* jobs);
// A job whose partner has ended before `time` had the other half of their GPUs from then on, too:
// adds these GPU seconds to what the job has attained, and to `gpu_seconds`.
void ChargeSurvivors(Seconds time, SimulatedJobs* jobs, double* gpu_seconds);
// GPUs that come free as the job in this slot ends: of a pair's, when the second of them does.
GpuCount GpusFreed(const SimulatedJobs& jobs, std::size_t slot);

}  // namespace allot
