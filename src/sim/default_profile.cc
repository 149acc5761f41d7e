// allot's own world: decisions every 300 s, 30 s lost by each change of allocation.

#include "sim/profile.h"

namespace allot {
namespace {

ALLOT_REGISTER(ProfileInfo,
               (ProfileInfo{kDefaultProfile, "decisions every 300 s, 30 s per change of allocation",
                            [](SimOptions* options) { *options = SimOptions{}; }}));

}  // namespace
}  // namespace allot
