// Shortest remaining time first by the estimated length, preemptive.

#include "stages/staged_policy.h"

namespace allot {
namespace {

ALLOT_REGISTER(PolicyInfo,
               StagedPolicyInfo("srtf", "shortest (estimated) remaining time first, preemptive",
                                {.ordering = "remaining"}));

}  // namespace
}  // namespace allot
