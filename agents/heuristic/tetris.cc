// Tetris (Grandl et al., SIGCOMM'14): waiting jobs by how well their demands align with what is
// free, and how short they are. DL2's version, which plans every slot anew and prefers the long, is
// `sizing=alignment/prefer=long/misfit=stop`.

#include "stages/staged_policy.h"

namespace allot {
namespace {

ALLOT_REGISTER(PolicyInfo,
               WithSource("Grandl et al., SIGCOMM 2014",
                          StagedPolicyInfo("tetris", "best aligned and shortest waiting job first",
                                           {.ordering = "submit", .sizing = "packing"})));

}  // namespace
}  // namespace allot
