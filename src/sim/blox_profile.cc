// Blox' simulator (Agarwal et al., EuroSys'24; docs/fidelity.md): rounds of 300 s charged whole,
// changes of allocation for free, lengths known, a strict order with head-of-line blocking that
// stops running jobs from its end, and the guard that lets a job through after 1000 hours of
// waiting. Placement is the intended rule of its "scattered" search;
// placement=consolidated/victims=true is its other one.

#include <string>

#include "sim/profile.h"

namespace allot {
namespace {

const std::string kStages =
    "sizing=requested/within-capacity=false,placement=first-fit/victims=true,max-wait=3600000";
// Service and remaining time in seconds of having run, whatever the number of GPUs.
const std::string kLeastService = "las:service=seconds," + kStages;
const std::string kShortestRemaining = "srtf:ordering=remaining/basis=service," + kStages;

ALLOT_REGISTER(ProfileInfo,
               (ProfileInfo{"blox",
                            "Blox: whole rounds of 300 s, free preemption, head of line blocks",
                            [](SimOptions* options) {
                              *options = SimOptions{};
                              options->interval = 300;
                              options->restart_cost = 0;
                              options->charge_whole_intervals = true;
                              options->lengths = {LengthEstimates::Kind::kTrue, 0};
                            },
                            {{"fifo", "fifo:ordering=submit/preemptive=true," + kStages},
                             {"las", kLeastService},
                             {"tiresias", kLeastService},
                             {"srtf", kShortestRemaining},
                             {"optimus", kShortestRemaining},
                             {"dynamic", "dynamic:profile=blox"},
                             {"fifo-repaired", "fifo"},
                             {"las-repaired", "las"},
                             {"tiresias-repaired", "las"},
                             {"srtf-repaired", "srtf"},
                             {"optimus-repaired", "optimus"}}}));

}  // namespace
}  // namespace allot
