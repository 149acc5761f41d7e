// Average JCT where jobs on several nodes slow each other down, in Pollux's simulated cluster (Qiao
// et al., OSDI'21, section 5.3): with and without keeping them apart.

#include "sweep/preset.h"

namespace allot {
namespace {

ALLOT_REGISTER(SweepPreset,
               (SweepPreset{"pollux-interference",
                            "Pollux, section 5.3: JCT against interference, avoided or not",
                            R"(title = "Pollux: interference"
seeds = [0, 1, 2, 3]
policies = ["pollux", "pollux:apart=false"]
reference = "pollux"
vary = { setting = ["pollux:interference=0", "pollux:interference=0.25", "pollux:interference=0.5"] }
)"}));

}  // namespace
}  // namespace allot
