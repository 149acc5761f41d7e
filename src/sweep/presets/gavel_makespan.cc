// Makespan of jobs that are all there at time 0, against their number: the static-multiple trace of
// Gavel (Narayanan et al., OSDI'20, section 7.3; no figure). Lengths are told, as there.

#include "sweep/preset.h"

namespace allot {
namespace {

ALLOT_REGISTER(SweepPreset,
               (SweepPreset{"gavel-makespan",
                            "Gavel, section 7.3: makespan of jobs that are all there at time 0",
                            R"(title = "Gavel, section 7.3: makespan of a static workload"
workload = "law:gavel:types=true,together=true"
catalogue = "gavel"
rigid = true
profile = "gavel"
clusters = "36:36:36"
seeds = [0, 1, 2]
vary = { jobs = [100, 200, 300, 400, 500] }
policies = ["fifo_perf", "max_min_fairness", "min_total_duration", "min_total_duration_perf", "gandiva"]
reference = "fifo_perf"
)"}));

}  // namespace
}  // namespace allot
