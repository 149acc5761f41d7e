// Least attained service with weights: one job of five has priority 5 (Gavel, Narayanan et al.,
// OSDI'20, section 4.1; --generate-multi-priority-jobs). Its artefact has no figure of it.

#include "sweep/preset.h"

namespace allot {
namespace {

ALLOT_REGISTER(SweepPreset, (SweepPreset{"gavel-priorities",
                                         "Gavel: LAS with priorities, one job of five weighs 5",
                                         R"(title = "Gavel: LAS with priorities"
workload = "law:gavel:multi=false,types=true,urgent=0.2"
catalogue = "gavel"
rigid = true
profile = "gavel"
clusters = "36:36:36"
seeds = [0, 1, 2]
jobs = 600
until-jct = "7d"
rates = "1..6/1"
policies = ["max_min_fairness", "max_min_fairness_perf"]
reference = "max_min_fairness"
)"}));

}  // namespace
}  // namespace allot
