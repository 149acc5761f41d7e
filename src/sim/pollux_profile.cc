// Pollux's simulator (Qiao et al., OSDI'21, artifact; docs/goodput.md): decisions every minute, a
// restart of 30 s at every change of a job's GPUs, the first start and moves to other nodes
// included, and training in steps. Tiresias and Optimus there are of jobs that keep their users'
// batch; the index there is allot's, with numbers for tables by goodput.

#include "sim/profile.h"

namespace allot {
namespace {

constexpr const char* kTiresias =
    "tiresias:queues=57600,within=entry,placement=emptiest,keep-batch=true";

// Tuned on workloads drawn by setting pollux, for jobs that choose their batch (docs/goodput.md).
constexpr const char* kIndex =
    "index:alpha=0,rank=1.3,beta=0.44,kappa=0.23,soon=1.8,first-bonus=-0.75,"
    "sizes=1|2|4|8|16|32|64,repay=true,late=32";

ALLOT_REGISTER(ProfileInfo,
               (ProfileInfo{
                   "pollux",
                   "Pollux: 60 s intervals, 30 s restarts, training in steps",
                   [](SimOptions* options) {
                     *options = SimOptions{};
                     options->interval = 60;
                     options->restart_cost = 30;
                     options->training.stepped = true;
                     options->training.whole_seconds = true;
                     options->training.first_start = true;
                   },
                   {{"tiresias", kTiresias}, {"optimus", "optimus-oracle"}, {"index", kIndex}},
                   "tiresias,optimus,pollux,index,srtf:sizing=hull"}));

}  // namespace
}  // namespace allot
