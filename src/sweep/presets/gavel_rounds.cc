// The length of a round: Figure 13 of Gavel (Narayanan et al., OSDI'20), there with and without
// exact shares. With rounds of 20 s jobs have their shares of time all but exactly.

#include "sweep/preset.h"

namespace allot {
namespace {

ALLOT_REGISTER(SweepPreset,
               (SweepPreset{"gavel-rounds", "Gavel, Figure 13: JCT against the length of a round",
                            R"(title = "Gavel, Figure 13: length of rounds"
workload = "law:gavel:multi=false,types=true"
catalogue = "gavel"
rigid = true
profile = "gavel"
clusters = "36:36:36"
seeds = [0, 1, 2]
jobs = 400
rates = [3, 5]
vary = { interval = [20, 90, 360, 720, 1440, 2880] }
policies = ["max_min_fairness", "max_min_fairness_perf"]
reference = "max_min_fairness"
)"}));

}  // namespace
}  // namespace allot
