// Jobs to GPU types, or to waiting, at each decision so that the sum over running jobs of speed
// relative to their own best type is largest. No parameters; of equal answers the one that runs.
// (The objective is Gavel's max-sum throughput, OSDI'20, section 4.2, normalised and solved for
// whole jobs at once instead of for time shares.)

#include "stages/staged_policy.h"

namespace allot {
namespace {

ALLOT_REGISTER(
    PolicyInfo,
    WithSource(
        "after Narayanan et al., Gavel, OSDI 2020, section 4.2",
        StagedPolicyInfo("assignment", "largest sum of speeds relative to each job's best GPU type",
                         {.ordering = "submit:preemptive=true", .types = "exact:enter=value"})));

}  // namespace
}  // namespace allot
