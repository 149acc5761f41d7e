// Average JCT against the rate under least attained service, blind to GPU types and aware of them,
// with jobs of one GPU: the first continuous sweep of Gavel (Narayanan et al., OSDI'20, section 7).

#include "sweep/preset.h"

namespace allot {
namespace {

ALLOT_REGISTER(SweepPreset,
               (SweepPreset{"gavel-las-single", "Gavel: LAS against the rate, jobs of one GPU",
                            R"(title = "Gavel: LAS, jobs of one GPU"
workload = "law:gavel:multi=false,types=true"
catalogue = "gavel"
rigid = true
interval = 360
clusters = "36:36:36"
seeds = [0, 1, 2]
jobs = 600
until-jct = "7d"
rates = "1..8/1"
policies = ["shared:sharing=max-min", "shared:sharing=max-min-perf", "shared:sharing=isolated", "las"]
reference = "shared:sharing=max-min"
)"}));

}  // namespace
}  // namespace allot
