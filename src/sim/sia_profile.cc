// Sia's simulator (Jayaram Subramanya et al., SOSP'23, artifact; docs/goodput.md): decisions every
// minute, restarts that take each application its own time, when a job starts, changes its type or
// its GPUs on each node, and go on over intervals; training in steps, slower than measured. Gavel
// there is of jobs that keep their GPUs and batch, in rounds of 360 s (--interval 360).

#include "sim/profile.h"

namespace allot {
namespace {

// Tuned on workloads drawn by setting sia (docs/goodput.md).
constexpr const char* kSiaIndex = "index:alpha=0,rank=0.9,beta=0.6,kappa=0.06,soon=0.45,joint=true";

ALLOT_REGISTER(
    ProfileInfo,
    (ProfileInfo{"sia",
                 "Sia: 60 s intervals, restarts of each application, GPU types",
                 [](SimOptions* options) {
                   *options = SimOptions{};
                   options->interval = 60;
                   options->restart_cost = 30;
                   options->training.stepped = true;
                   options->training.whole_seconds = true;
                   options->training.own_restart = true;
                   options->training.first_start = true;
                   options->training.free_moves = true;
                   options->training.users_batch = true;
                   options->training.slowdowns = {{"cifar10", 1.8}, {"ncf", 1.5}, {"gpt_pmp", 1.0}};
                   options->training.slowdown = 1.2;
                 },
                 {{"gavel",
                   "gavel-oracle:placement=sticky,lease=0,residues=true,leftovers=in-turn,"
                   "remember=true"},
                  {"index", kSiaIndex}},
                 "sia,gavel,pollux,index,srtf:sizing=hull"}));

}  // namespace
}  // namespace allot
