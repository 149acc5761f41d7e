#pragma once
// A run without a mechanism: jobs progress by fractions of time as these were given out (Gavel's
// --ideal), at every moment at the sum of share x rate. What rounds, whole GPUs, placement and
// restarts cost is the difference to the run of the same policy with them.

#include "sched/driver.h"
#include "sched/time_shares.h"
#include "sim/scenario.h"
#include "sim/simulated_cluster.h"

namespace allot {

// The scenario as it is without a mechanism: changes cost nothing, and shares are renewed whenever
// a job has arrived or ended. UsageError for nodes that come and go, processes of progress and
// applications that choose their batch: they need GPUs.
Scenario WithoutMechanism(const Scenario& scenario);

// The rules of shares: of rows and configurations that there are, each in (0, 1], of a job at most
// 1 together, and of a type's GPUs at most those that it has; all up to 1e-6 for rounding.
Status ValidateShares(const Observation& observation, std::span<const TimeShare> shares);

// As Drive, of a cluster of such a scenario, by the policy's ideal_shares(), which must not be
// null. RunError where shares break a rule. Of the options `enough` and `time_decisions` count.
DriveResult DriveShares(SimulatedCluster& cluster, Policy& policy, const EpisodeContext& context,
                        const DriveOptions& options);

}  // namespace allot
