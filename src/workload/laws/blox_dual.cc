// The dual load of Blox's admission experiments as its scripts mean it (the shipped second stream
// never emits a job, docs/sweeps.md): long jobs all the time, and four times as many short ones
// while a second stream is open, from each multiple of 4 h to the next one of 6 h.

#include "workload/arrival_law.h"

namespace allot {
namespace {

ALLOT_REGISTER(
    WorkloadLaw,
    (WorkloadLaw{"blox-dual",
                 "Blox, dual load: jobs of 10 to 24 h, and spells of four times as many short ones",
                 {{.durations = {{1, 36000, 86400}}},
                  {.rate_factor = 4,
                   .durations = {{1, 600, 3600}},
                   .opens_every = 14400,
                   .shuts_every = 21600}}}));

}  // namespace
}  // namespace allot
