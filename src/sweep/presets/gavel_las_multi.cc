// The same with jobs of several GPUs: Figure 9 of Gavel (Narayanan et al., OSDI'20). There and here
// a job with fewer steps left than GPUs is dropped, and a note counts those.

#include "sweep/preset.h"

namespace allot {
namespace {

ALLOT_REGISTER(SweepPreset,
               (SweepPreset{"gavel-las-multi",
                            "Gavel, Figure 9: LAS against the rate, jobs of several GPUs",
                            R"(title = "Gavel, Figure 9: LAS, jobs of several GPUs"
workload = "law:gavel:types=true"
catalogue = "gavel"
rigid = true
profile = "gavel"
clusters = "36:36:36"
seeds = [0, 1, 2]
jobs = 600
until-jct = "7d"
rates = "0.5..3/0.5"
policies = ["max_min_fairness", "max_min_fairness_perf", "gandiva", "assignment"]
reference = "max_min_fairness"
)"}));

}  // namespace
}  // namespace allot
