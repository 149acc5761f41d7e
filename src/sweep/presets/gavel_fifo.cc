// First come, first served: in turn on any type, on the fastest type that is left, and with exact
// sharing of types. After Gavel (Narayanan et al., OSDI'20, appendix).

#include "sweep/preset.h"

namespace allot {
namespace {

ALLOT_REGISTER(SweepPreset,
               (SweepPreset{"gavel-fifo", "Gavel: FIFO against the rate, jobs of one GPU",
                            R"(title = "Gavel: FIFO"
workload = "law:gavel:multi=false,types=true"
catalogue = "gavel"
rigid = true
interval = 360
clusters = "36:36:36"
seeds = [0, 1, 2]
jobs = 600
until-jct = "7d"
rates = "1..7/1"
policies = ["fifo", "shared:sharing=fifo-perf"]
reference = "fifo"
)"}));

}  // namespace
}  // namespace allot
