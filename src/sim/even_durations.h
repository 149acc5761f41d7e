#pragma once
// How long each job would run if it spent its time on all GPUs of the cluster equally: what
// finish-time fairness compares with (metrics/service.h).

#include <vector>

#include "sim/scenario.h"

namespace allot {

// By job: its work over the mean of its rates at the size it asked for, a type weighing as many as
// it has GPUs, 0 where it cannot run. Empty on clusters of one type: the jobs' run times.
std::vector<Seconds> EvenDurations(const Scenario& scenario);

}  // namespace allot
