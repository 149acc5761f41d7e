// First come, first served: on any type, on the fastest type that is left, and in pairs. A policy
// of Gavel's (Narayanan et al., OSDI'20, section 4.2) of which its artefact has no figure. Gavel's
// own `fifo` may use one type only, by its seed: that which is blind to types is allot's.

#include "sweep/preset.h"

namespace allot {
namespace {

ALLOT_REGISTER(SweepPreset,
               (SweepPreset{"gavel-fifo", "Gavel: FIFO against the rate, jobs of one GPU",
                            R"(title = "Gavel: FIFO"
workload = "law:gavel:multi=false,types=true"
catalogue = "gavel"
rigid = true
profile = "gavel"
clusters = "36:36:36"
seeds = [0, 1, 2]
jobs = 600
until-jct = "7d"
rates = "1..6/1"
policies = ["fifo:types=greedy", "fifo_perf", "assignment"]
reference = "fifo:types=greedy"
)"}));

}  // namespace
}  // namespace allot
