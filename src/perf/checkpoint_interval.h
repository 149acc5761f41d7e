#pragma once
// How long a job should train between two checkpoints: the interval at which writing them and the
// work that a failure loses cost the same, sqrt(2 C / h) for a cost of C and failures at the rate h
// (Young, CACM 17(9), 1974; Daly, FGCS 22(3), 2006). The simulator's jobs keep it
// (sim/checkpointing/young_daly.cc), and the daemon advises live ones by it.

#include <algorithm>
#include <cmath>

#include "core/types.h"

namespace allot {

// At least the cost of one checkpoint. kNever if nothing fails. `failures`: of the job, a second.
inline Seconds YoungDalyInterval(Seconds cost, double failures) {
  return failures > 0 ? std::max(cost, std::sqrt(2 * cost / failures)) : kNever;
}

}  // namespace allot
