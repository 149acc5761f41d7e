// Decisions also at every arrival and completion, as an online scheduler without rounds makes them.
// It is the world `default` with more moments to decide at: no network was trained for it apart.

#include "sim/profile.h"

namespace allot {
namespace {

ALLOT_REGISTER(ProfileInfo,
               (ProfileInfo{"event",
                            "as default, and a decision at every arrival and completion",
                            [](SimOptions* options) {
                              *options = SimOptions{};
                              options->decide_on_events = true;
                            },
                            {},
                            {},
                            kDefaultProfile}));

}  // namespace
}  // namespace allot
