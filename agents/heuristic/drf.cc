// Dominant resource fairness: equal dominant shares, filled up unit by unit.

#include "stages/staged_policy.h"

namespace allot {
namespace {

ALLOT_REGISTER(PolicyInfo,
               StagedPolicyInfo("drf", "dominant resource fairness by progressive filling",
                                {.ordering = "submit", .sizing = "dominant-share"}));

}  // namespace
}  // namespace allot
