// Time shares, realised round by round.

#include "stages/rounds/shared_policy.h"

namespace allot {
namespace {

ALLOT_REGISTER(PolicyInfo,
               WithSource("Narayanan et al., Gavel, OSDI 2020, sections 4 and 5",
                          SharedPolicyInfo("shared", "time shares over GPU types, in rounds",
                                           {.sharing = "isolated"})));

}  // namespace
}  // namespace allot
