// The bursts of Blox's admission experiments (small and large jobs): long jobs all the time, and
// every 4 h a batch of four times the hourly rate of short ones, which arrive at once.

#include "workload/arrival_law.h"

namespace allot {
namespace {

ALLOT_REGISTER(WorkloadLaw,
               (WorkloadLaw{
                   "blox-bursts",
                   "Blox, bursts: jobs of 10 to 24 h, and every 4 h a batch of short ones",
                   {{.durations = {{1, 36000, 86400}}},
                    {.rate_factor = 4, .durations = {{1, 600, 3600}}, .batch_every = 14400}}}));

}  // namespace
}  // namespace allot
