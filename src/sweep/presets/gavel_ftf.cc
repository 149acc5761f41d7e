// Finish-time fairness (Themis), blind to GPU types and aware of them, with jobs of several GPUs:
// average JCT and fairness against the rate, and the distribution of fairness. After Gavel
// (Narayanan et al., OSDI'20, section 7). Lengths are told, as there.

#include "sweep/preset.h"

namespace allot {
namespace {

ALLOT_REGISTER(SweepPreset,
               (SweepPreset{"gavel-ftf", "Gavel: finish-time fairness, its distribution and JCT",
                            R"(title = "Gavel: finish-time fairness"
workload = "law:gavel:types=true"
length-estimates = "true"
catalogue = "gavel"
rigid = true
interval = 360
clusters = "36:36:36"
seeds = [0, 1, 2]
jobs = 600
until-jct = "7d"
rates = "0.4..3.2/0.4"
policies = ["shared:sharing=finish-time-fairness/speeds=v100", "shared:sharing=finish-time-fairness", "shared:sharing=isolated"]
reference = "shared:sharing=isolated"
)"}));

}  // namespace
}  // namespace allot
