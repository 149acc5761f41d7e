#pragma once
// Which job held which GPUs from when to when: allocations.csv of a run, for the pictures of it.

#include <cstddef>
#include <vector>

#include "cluster/allocation_note.h"
#include "cluster/topology.h"
#include "report/evaluation_runs.h"

namespace allot {

struct HeldGpus {
  std::size_t job = 0;  // row of jobs.csv
  double begin = 0;
  double end = 0;  // kNever: until the end of the run
  GpuCount gpus = 0;
  std::vector<NodeHolding> nodes{};
};

// By begin. Empty where the run has no allocations.csv. DataError with file and line for a job that
// jobs.csv does not have, or malformed nodes.
std::vector<HeldGpus> ReadHeldGpus(const RunFigures& run);

// "4 GPUs on nodes 0 (2), 3 (2)"; with a topology of several nodes "..., in one leaf", or "...,
// across the cluster". Null: there is none.
std::string HeldInWords(const HeldGpus& held, const Topology* topology);

}  // namespace allot
