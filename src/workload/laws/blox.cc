// The law behind Blox's Figure 6 (Agarwal et al., EuroSys'24): random arrivals of one-GPU jobs,
// four of five with 60 x 10^U(1.5, 3) seconds, the fifth with 60 x 10^U(3, 4); 16.8 hours on
// average.

#include <cmath>

#include "workload/arrival_law.h"

namespace allot {
namespace {

ALLOT_REGISTER(WorkloadLaw, (WorkloadLaw{"blox",
                                         "Blox, Figure 6: one-GPU jobs of half an hour to a week",
                                         {{.durations = {{0.8, 60 * std::pow(10, 1.5), 60e3, true},
                                                         {0.2, 60e3, 600e3, true}}}}}));

}  // namespace
}  // namespace allot
