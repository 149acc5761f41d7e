// First in, first out, at the requested size; younger jobs backfill round a job that does not fit.

#include "stages/staged_policy.h"

namespace allot {
namespace {

ALLOT_REGISTER(PolicyInfo, WithSource("common practice",
                                      StagedPolicyInfo("fifo", "first in, first out, with backfill",
                                                       {.ordering = "submit"})));

}  // namespace
}  // namespace allot
