// Tiresias-L (Gu et al., NSDI'19, section 4.2): attained GPU time in two queues, first come first
// served in each. The threshold is the one of the comparisons published with Pollux (Qiao et al.,
// OSDI'21, artifact): 16 GPU-hours, without promotion.

#include "stages/staged_policy.h"

namespace allot {
namespace {

ALLOT_REGISTER(PolicyInfo,
               WithSource("Gu et al., NSDI 2019, section 4.2",
                          StagedPolicyInfo(
                              "tiresias", "least attained GPU time in two queues, FIFO inside each",
                              {.ordering = "attained"},
                              {{"queues", "57600",
                                "ascending service thresholds between queues, joined by '|'"},
                               {"service", "gpu-seconds", "gpu-seconds or seconds"},
                               {"promote", "0",
                                "a job that waited this many times as long as it ran goes to the "
                                "first queue (0: never)"},
                               {"within", "submit", "order inside a queue: submit or entry"}})));

}  // namespace
}  // namespace allot
