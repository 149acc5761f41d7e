#pragma once
// Deadlines as objectives that somebody promised (SLO), before anything is simulated.

#include "sim/scenario.h"

namespace allot {

// DataError naming the job, its place in the trace and both times where a deadline comes before the
// job could end, were it alone on its fastest configuration from its submission on. O(jobs).
void RequireMeetableDeadlines(const Scenario& scenario);

}  // namespace allot
