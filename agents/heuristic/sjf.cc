// Shortest job first by the estimated length; running jobs are not stopped.

#include "stages/staged_policy.h"

namespace allot {
namespace {

ALLOT_REGISTER(PolicyInfo,
               WithSource("Smith, Naval Research Logistics Quarterly 1956",
                          StagedPolicyInfo("sjf", "shortest (estimated) job first, not preemptive",
                                           {.ordering = "length"})));

}  // namespace
}  // namespace allot
