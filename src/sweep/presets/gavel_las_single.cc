// Average JCT against the rate under least attained service, with jobs of one GPU: Figure 8 of
// Gavel (Narayanan et al., OSDI'20), its policies as published, in its world, without space sharing
// (catalogue `gavel-pairs`). All jobs count, not a window of them.

#include "sweep/preset.h"

namespace allot {
namespace {

ALLOT_REGISTER(SweepPreset, (SweepPreset{"gavel-las-single",
                                         "Gavel, Figure 8: LAS against the rate, jobs of one GPU",
                                         R"(title = "Gavel, Figure 8: LAS, jobs of one GPU"
workload = "law:gavel:multi=false,types=true"
catalogue = "gavel"
rigid = true
profile = "gavel"
clusters = "36:36:36"
seeds = [0, 1, 2]
jobs = 600
until-jct = "7d"
rates = "1..6/1"
policies = ["max_min_fairness", "max_min_fairness_perf", "allox", "gandiva", "assignment"]
reference = "max_min_fairness"
)"}));

}  // namespace
}  // namespace allot
