// Sia's simulated cluster of three GPU types (Jayaram Subramanya et al., SOSP'23, section 4):
// average JCT by policy and load. Its measurements do not come with allot: name their folder in the
// setting, `applications=DIR`.

#include "sweep/preset.h"

namespace allot {
namespace {

ALLOT_REGISTER(SweepPreset, (SweepPreset{"sia", "Sia, section 4: JCT on three GPU types",
                                         R"(title = "Sia: JCT on three GPU types"
seeds = [0, 1, 2, 3]
policies = ["sia", "pollux", "index"]
reference = "sia"
vary = { setting = ["sia:load=0.5", "sia:load=1", "sia:load=1.5"] }
)"}));

}  // namespace
}  // namespace allot
