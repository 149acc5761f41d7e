// Finish-time fairness (Themis), blind to GPU types and aware of them, with jobs of several GPUs:
// average JCT and fairness against the rate, and the distribution of fairness. Figure 10 of Gavel
// (Narayanan et al., OSDI'20). Lengths are told, as there.

#include "sweep/preset.h"

namespace allot {
namespace {

ALLOT_REGISTER(SweepPreset,
               (SweepPreset{"gavel-ftf",
                            "Gavel, Figure 10: finish-time fairness, its distribution and JCT",
                            R"(title = "Gavel, Figure 10: finish-time fairness"
workload = "law:gavel:types=true"
catalogue = "gavel"
rigid = true
profile = "gavel"
clusters = "36:36:36"
seeds = [0, 1, 2]
jobs = 600
until-jct = "7d"
rates = "0.5..3/0.5"
policies = ["finish_time_fairness", "finish_time_fairness_perf", "isolated"]
reference = "finish_time_fairness"
)"}));

}  // namespace
}  // namespace allot
