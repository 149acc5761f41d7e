// Time shares, realised round by round.

#include "stages/shared_policy.h"

namespace allot {
namespace {

ALLOT_REGISTER(PolicyInfo, SharedPolicyInfo("shared", "time shares over GPU types, in rounds",
                                            {.sharing = "isolated"}));

}  // namespace
}  // namespace allot
