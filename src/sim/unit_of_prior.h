#pragma once
// The unit of a fit before its first measurement: the prior is scaled to the job's true rate as
// requested, which says no more than its length estimate does (sim/beliefs/measured.cc).

#include "perf/rate_fit.h"
#include "sim/scenario.h"

namespace allot {

// Work per unit of the fit's rates; 1 from its first measurement on.
double UnitOfPrior(const Scenario& scenario, JobIndex job, const RateFit& fit);

}  // namespace allot
