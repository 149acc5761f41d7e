#pragma once
// Who held which GPUs of a run from when on, as far as pictures need it: what allocations.csv is
// made of (docs/formats/results.md).

#include <vector>

#include "core/types.h"

namespace allot {

struct NodeHolding {
  NodeIndex node = 0;
  GpuCount gpus = 0;
  friend bool operator==(const NodeHolding&, const NodeHolding&) = default;
};

// From `time` on until the job's next note or its end, it holds these, by node; none: it was made
// to wait.
struct AllocationNote {
  Seconds time = 0;
  JobIndex job = 0;
  std::vector<NodeHolding> nodes{};
};

}  // namespace allot
