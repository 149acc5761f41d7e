// First in, first out, at the requested size; younger jobs backfill round a job that does not fit.

#include "sched/staged_policy.h"

namespace allot {
namespace {

ALLOT_REGISTER(PolicyInfo, StagedPolicyInfo("fifo", "first in, first out, with backfill",
                                            {.ordering = "submit"}));

}  // namespace
}  // namespace allot
