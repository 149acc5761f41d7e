// Average JCT against the load in Pollux's simulated cluster (Qiao et al., OSDI'21, section 5.3):
// 80 to 320 jobs in eight hours. Beside its three policies the index.

#include "sweep/preset.h"

namespace allot {
namespace {

ALLOT_REGISTER(SweepPreset,
               (SweepPreset{"pollux-load", "Pollux, section 5.3: JCT against the number of jobs",
                            R"(title = "Pollux: JCT against load"
seeds = [0, 1, 2, 3]
policies = ["tiresias", "optimus", "pollux", "index"]
reference = "pollux"
vary = { setting = ["pollux:load=0.5", "pollux:load=1.0", "pollux:load=1.5", "pollux:load=2.0"] }
)"}));

}  // namespace
}  // namespace allot
