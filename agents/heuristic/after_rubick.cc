// After Rubick: requests are promised as speeds, in the order of submission.

#include "stages/staged_policy.h"

namespace allot {
namespace {

ALLOT_REGISTER(PolicyInfo,
               WithSource("after Zhang et al., MLSys 2025",
                          StagedPolicyInfo("after-rubick",
                                           "the speed of each request is promised, in order; what "
                                           "is left goes to who gains most",
                                           {.ordering = "submit", .sizing = "promised"})));

}  // namespace
}  // namespace allot
