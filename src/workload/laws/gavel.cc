// Gavel's generator for several GPUs (Narayanan et al., OSDI'20): random arrivals; 60 x 10^U(1.5,
// 3) seconds, one of five jobs 60 x 10^U(3, 4); 70, 10, 15 and 5 % of the jobs on 1, 2, 4 and 8
// GPUs.

#include <cmath>

#include "workload/arrival_law.h"

namespace allot {
namespace {

ALLOT_REGISTER(WorkloadLaw, (WorkloadLaw{"gavel",
                                         "Gavel: half an hour to a week on 1, 2, 4 or 8 GPUs",
                                         {{.durations = {{0.8, 60 * std::pow(10, 1.5), 60e3, true},
                                                         {0.2, 60e3, 600e3, true}},
                                           .gpus = {{1, 0.7}, {2, 0.1}, {4, 0.15}, {8, 0.05}}}}}));

}  // namespace
}  // namespace allot
