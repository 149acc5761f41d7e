// Makespan of jobs that are all there at time 0, against their number. After Gavel (Narayanan et
// al., OSDI'20, section 7). Lengths are told, as there.

#include "sweep/preset.h"

namespace allot {
namespace {

ALLOT_REGISTER(SweepPreset,
               (SweepPreset{"gavel-makespan",
                            "Gavel: makespan against the number of jobs, all at time 0",
                            R"(title = "Gavel: makespan of a static workload"
workload = "law:gavel:types=true,together=true"
length-estimates = "true"
catalogue = "gavel"
rigid = true
interval = 360
clusters = "36:36:36"
seeds = [0, 1, 2]
vary = { jobs = [100, 200, 300, 400, 500] }
policies = ["shared:sharing=fifo-perf", "shared:sharing=max-min-perf", "shared:sharing=min-total-duration"]
reference = "shared:sharing=fifo-perf"
)"}));

}  // namespace
}  // namespace allot
