// Shortest remaining time first by the estimated length, preemptive.

#include "stages/staged_policy.h"

namespace allot {
namespace {

ALLOT_REGISTER(PolicyInfo,
               WithSource("Schrage, Operations Research 1968",
                          StagedPolicyInfo("srtf",
                                           "shortest (estimated) remaining time first, preemptive",
                                           {.ordering = "remaining"})));

}  // namespace
}  // namespace allot
