// The same with jobs of several GPUs: the second continuous sweep of Gavel (Narayanan et al.,
// OSDI'20, section 7).

#include "sweep/preset.h"

namespace allot {
namespace {

ALLOT_REGISTER(SweepPreset,
               (SweepPreset{"gavel-las-multi", "Gavel: LAS against the rate, jobs of several GPUs",
                            R"(title = "Gavel: LAS, jobs of several GPUs"
workload = "law:gavel:types=true"
catalogue = "gavel"
rigid = true
interval = 360
clusters = "36:36:36"
seeds = [0, 1, 2]
jobs = 600
until-jct = "7d"
rates = "0.4..4/0.4"
policies = ["shared:sharing=max-min", "shared:sharing=max-min-perf", "shared:sharing=isolated", "las"]
reference = "shared:sharing=max-min"
)"}));

}  // namespace
}  // namespace allot
