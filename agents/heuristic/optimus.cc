// Optimus: one more unit where it saves most estimated time per cost.

#include "stages/staged_policy.h"

namespace allot {
namespace {

ALLOT_REGISTER(
    PolicyInfo,
    WithSource("Peng et al., EuroSys 2018",
               StagedPolicyInfo("optimus",
                                "largest estimated time saved per added unit (work-conserving)",
                                {.ordering = "submit", .sizing = "marginal-gain"})));

}  // namespace
}  // namespace allot
