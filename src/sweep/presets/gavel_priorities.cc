// Least attained service with weights: one job of five has priority 5. After Gavel (Narayanan et
// al., OSDI'20, section 7 and its appendix).

#include "sweep/preset.h"

namespace allot {
namespace {

ALLOT_REGISTER(SweepPreset, (SweepPreset{"gavel-priorities",
                                         "Gavel: LAS with priorities, one job of five weighs 5",
                                         R"(title = "Gavel: LAS with priorities"
workload = "law:gavel:multi=false,types=true,urgent=0.2"
catalogue = "gavel"
rigid = true
interval = 360
clusters = "36:36:36"
seeds = [0, 1, 2]
jobs = 600
until-jct = "7d"
rates = "1..8/1"
policies = ["shared:sharing=max-min", "shared:sharing=max-min-perf"]
reference = "shared:sharing=max-min"
)"}));

}  // namespace
}  // namespace allot
