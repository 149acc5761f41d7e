// DL2's simulator (Peng et al., TPDS 2021; docs/fidelity.md): the whole allocation is made anew
// every slot and costs nothing, jobs end within a slot, lengths are known, and a unit that does not
// fit on the least loaded server ends the slot. The slot is 1200 s in its two large settings.

#include "sim/profile.h"

namespace allot {
namespace {

std::string Rebuilt(const std::string& policy, const std::string& ordering,
                    const std::string& sizing) {
  return policy + ":ordering=" + ordering + ",sizing=" + sizing;
}

ALLOT_REGISTER(
    ProfileInfo,
    (ProfileInfo{
        "dl2",
        "DL2: slots of 1200 s, free changes, least-loaded server or nothing",
        [](SimOptions* options) {
          *options = SimOptions{};
          options->interval = 1200;
          options->restart_cost = 0;
          options->lengths = {LengthEstimates::Kind::kTrue, 0};
        },
        {{"fifo", Rebuilt("fifo", "submit/preemptive=true", "unit-by-unit/pick=order")},
         {"srtf", Rebuilt("srtf", "remaining-fraction", "unit-by-unit/pick=order")},
         {"drf", Rebuilt("drf", "submit/preemptive=true", "unit-by-unit/pick=share")},
         {"optimus", Rebuilt("optimus", "submit/preemptive=true", "unit-by-unit/pick=gain")},
         {"tetris", Rebuilt("fifo", "submit/preemptive=true", "alignment/misfit=stop/prefer=long")},
         {"fifo-repaired",
          Rebuilt("fifo", "submit/preemptive=true", "unit-by-unit/pick=order/misfit=skip")},
         {"srtf-repaired", Rebuilt("srtf", "remaining", "unit-by-unit/pick=order/misfit=skip")},
         {"tetris-repaired", Rebuilt("fifo", "submit/preemptive=true", "alignment")},
         {"drf-repaired", "drf"},
         {"optimus-repaired", "optimus"}}}));

}  // namespace
}  // namespace allot
