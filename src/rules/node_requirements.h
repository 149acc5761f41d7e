#pragma once
// Keeps what jobs require of nodes and policies do not know (rules/constraints.h): that only some
// nodes may run a job, that it avoids some where it failed, that it needs as many GPUs on each of
// its nodes, and that nothing starts on closed nodes, on GPUs that others give up there either. A
// job that an answer places otherwise is moved to as many GPUs of the same type: to free ones, or
// to those of another job that starts there by the same answer, which then gets the ones given. A
// job whose workers have one GPU each is spread over what is left where it may run, as fewer GPUs
// where that is less. A job that waits goes to another type that it accepts where it may run on
// none of the type given. Part of ConstrainedCluster.

#include <vector>

#include "cluster/allocation.h"
#include "rules/constrained_view.h"
#include "rules/constraints.h"

namespace allot {

// `answer`: in the machines' numbers, legal; changed where it breaks a requirement of a job that
// `view` shows. The GPUs of its jobs are disjoint, before and after. `unplaced`: jobs for which no
// place is left are added; they keep what they have, or wait. Leaves answers with jobs that share
// GPUs as they are. O(entries x nodes) where a job has to move, O(entries) where a job requires
// something or a node is closed, else O(1).
void KeepNodeRequirements(const Observation& all, const Constraints& constraints,
                          const ConstrainedView& view, Allocation* answer,
                          std::vector<Corrections::Unplaced>* unplaced);

}  // namespace allot
