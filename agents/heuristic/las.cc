// Least attained service first, preemptive; with `queues` it is Tiresias' discretised LAS.

#include "stages/staged_policy.h"

namespace allot {
namespace {

ALLOT_REGISTER(
    PolicyInfo,
    WithSource("Gu et al., Tiresias, NSDI 2019",
               StagedPolicyInfo("las", "least attained service first; with queues: Tiresias",
                                {.ordering = "attained"},
                                {{"queues", "",
                                  "ascending service thresholds between queues, joined by '|'"},
                                 {"service", "", "gpu-seconds (default) or seconds"}})));

}  // namespace
}  // namespace allot
