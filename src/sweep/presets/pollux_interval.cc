// Average JCT against the seconds between decisions in Pollux's simulated cluster (Qiao et al.,
// OSDI'21, section 5.3).

#include "sweep/preset.h"

namespace allot {
namespace {

ALLOT_REGISTER(SweepPreset,
               (SweepPreset{"pollux-interval", "Pollux, section 5.3: JCT against the interval",
                            R"(title = "Pollux: JCT against the interval"
seeds = [0, 1, 2, 3]
policies = ["pollux", "index"]
reference = "pollux"
vary = { setting = ["pollux:interval=30", "pollux:interval=60", "pollux:interval=120",
                    "pollux:interval=240", "pollux:interval=480"] }
)"}));

}  // namespace
}  // namespace allot
