#pragma once
// What is known of a job's speed before it runs: what it states of itself, as levels of
// perf/speed_prior.h, and what was measured of its application before anybody ran.

#include <string>
#include <vector>

#include "perf/application.h"
#include "perf/timing_fits.h"
#include "sim/scenario.h"

namespace allot {

std::vector<std::string> SpeedLevelsOf(const Scenario& scenario, JobIndex job);

// Adds what was measured of the application on these nodes, packed: with the least, the most and a
// batch between.
void FitMeasured(const Application& application, const std::vector<GpuTypeSpec>& types,
                 TimingFits* fits);

}  // namespace allot
