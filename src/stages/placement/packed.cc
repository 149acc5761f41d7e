// Few nodes per job, few holes (stages/fill/packed_chooser.h).

#include "stages/fill/packed_chooser.h"

namespace allot {
namespace {

ALLOT_REGISTER(PlacementInfo,
               ChooserPlacementInfo(
                   "packed",
                   "nodes that the job holds first, then best fit, on as few nodes as possible",
                   [](const Params&) { return std::make_unique<PackedChooser>(); }));

}  // namespace
}  // namespace allot
