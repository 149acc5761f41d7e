#pragma once
// Jobs of a training cluster in which gangs take most of the time, for settings in which nodes go:
// a job of one GPU hardly notices them.

#include <cstdint>
#include <span>

#include "workload/workload.h"

namespace allot {

struct GangClass {
  GpuCount gpus = 1;
  double share = 0;   // of the GPU time of all jobs
  double hours = 1;   // the median of the run times, which are log-normal
  double spread = 1;  // standard deviation of their logarithm
};

// Submitted at random within `span`, until they have asked for as much time as `gpus` GPUs have in
// it; run times from two minutes to `longest`. Equal seeds give equal jobs.
struct GangDemand {
  std::span<const GangClass> classes;
  double gpus = 0;
  Seconds span = 0;
  Seconds longest = 0;
};
Workload DrawGangs(const GangDemand& demand, std::uint64_t seed);

// A model that scales by a power law is drawn for each (perf/power_laws.h), and it may have 1 to 4
// times its GPUs, at most `most`.
void MakeGangsElastic(GpuCount most, std::uint64_t seed, Workload* workload);

}  // namespace allot
