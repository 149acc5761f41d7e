#pragma once
// How many GPUs each job may have now, where several share a limit that an administrator has set
// (SharedLimit: an account's, a user's). Policies know no limits: what a job may not have is left
// out of its table, and one that may not begin is not shown to them. So a limit costs nobody else
// GPUs. So it is with jobs whose workers never joined (Newcomers). LiveCluster calls it before each
// decision.
//
// Jobs that run keep what they have, whatever the limit. What is left goes to those that wait, in
// the order of their priorities and submission, as much as each needs to begin. What is left then
// goes to all of these in equal parts. So whatever a policy chooses, no limit is passed.

#include <vector>

#include "live/port/newcomers.h"
#include "live/port/pending_placements.h"
#include "live/state/job_table.h"

namespace allot {

// Sets LiveJob::most and LiveJob::beyond of all active jobs. `free`: GPUs that nobody has, by type.
// `pending`: which jobs back off, and take no part; what one that runs has, and no more, is its
// most while it may not grow. `newcomers`, unless null, share free GPUs in the order of submission,
// and begin with no more than their least size where these are used up. O(jobs x limits of each),
// and a table for each job whose part has changed.
void ShareLimits(const std::vector<SharedLimit>& limits, const std::vector<GpuCount>& free,
                 const PendingPlacements& pending, const Newcomers* newcomers, JobTable* table);

}  // namespace allot
