// Dominant resource fairness: equal dominant shares, filled up unit by unit.

#include "stages/staged_policy.h"

namespace allot {
namespace {

ALLOT_REGISTER(PolicyInfo,
               WithSource("Ghodsi et al., NSDI 2011",
                          StagedPolicyInfo("drf",
                                           "dominant resource fairness by progressive filling",
                                           {.ordering = "submit", .sizing = "dominant-share"})));

}  // namespace
}  // namespace allot
