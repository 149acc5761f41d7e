// Max-min fairness of throughput over that at an equal share (Narayanan et al., Gavel, OSDI'20,
// section 4.1), by progressive filling in each interval and turns over time; Gavel itself solves a
// linear program.

#include "stages/staged_policy.h"

namespace allot {
namespace {

ALLOT_REGISTER(
    PolicyInfo,
    WithSource("Narayanan et al., Gavel, OSDI 2020, section 4.1",
               StagedPolicyInfo("max-min",
                                "equal throughput for all, relative to that at an equal share",
                                {.ordering = "received", .sizing = "progressive"})));

}  // namespace
}  // namespace allot
