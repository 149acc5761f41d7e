// EASY backfilling (Lifka, JSSPP 1995): first in, first out, with one reservation, for the head of
// the line, that backfilled jobs may not delay by the estimates.

#include "stages/staged_policy.h"

namespace allot {
namespace {

ALLOT_REGISTER(PolicyInfo,
               WithSource("Lifka, JSSPP 1995",
                          StagedPolicyInfo("easy",
                                           "FIFO whose backfill may not delay the head of the line",
                                           {.ordering = "submit", .sizing = "reservation"})));

}  // namespace
}  // namespace allot
