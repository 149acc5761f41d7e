#pragma once
// The remaining cost of an episode that was cut. Each unfinished job counts as if it ran from then
// on in its fastest configuration, so that it does not pay to delay a job beyond the cut. Used for
// returns and objectives of episodes that end early.

#include <vector>

#include "cluster/observation.h"
#include "sim/scenario.h"
#include "sim/simulated_cluster.h"

namespace allot {

// Seconds by row of `last`, the observation at the cut. Knows the true lengths. O(rows).
std::vector<Seconds> TimeLeftAlone(const Scenario& scenario, const Observation& last);

// The same as the facts of one more step, for rewards.
StepFacts StepAlone(const Scenario& scenario, const Observation& last);

}  // namespace allot
