// Pollux's simulator (Qiao et al., OSDI'21, artifact; docs/goodput.md): decisions every minute, a
// restart of 30 s at every change of a job's GPUs, the first start and moves to other nodes
// included, and training in steps. Tiresias and Optimus there are of jobs that keep their users'
// batch.

#include "sim/profile.h"

namespace allot {
namespace {

constexpr const char* kTiresias =
    "tiresias:queues=57600,within=entry,placement=emptiest,keep-batch=true";

ALLOT_REGISTER(ProfileInfo,
               (ProfileInfo{"pollux",
                            "Pollux: 60 s intervals, 30 s restarts, training in steps",
                            [](SimOptions* options) {
                              *options = SimOptions{};
                              options->interval = 60;
                              options->restart_cost = 30;
                              options->training.stepped = true;
                              options->training.whole_seconds = true;
                              options->training.first_start = true;
                            },
                            {{"tiresias", kTiresias}, {"optimus", "optimus-oracle"}}}));

}  // namespace
}  // namespace allot
