#pragma once
// Which job held which GPUs from when to when: allocations.csv of a run, for the pictures of it.

#include <cstddef>
#include <vector>

#include "cluster/allocation_note.h"
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

// "4 GPUs on nodes 0 (2), 3 (2)".
std::string HeldInWords(const HeldGpus& held);

}  // namespace allot
