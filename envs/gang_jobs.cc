#include "envs/gang_jobs.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/rng.h"
#include "perf/elastic.h"
#include "perf/power_laws.h"

namespace allot {
namespace {

constexpr Seconds kShortest = 120;

// Jobs of a class, in any unit: GPU time over that of a job on average.
double JobsOf(const GangClass& gang) {
  return gang.share / (gang.gpus * gang.hours * std::exp(gang.spread * gang.spread / 2));
}

}  // namespace

Workload DrawGangs(const GangDemand& demand, std::uint64_t seed) {
  double all = 0;
  for (const GangClass& gang : demand.classes) all += JobsOf(gang);
  Workload workload;
  Rng rng(seed, "gang-jobs");
  for (double left = demand.gpus * demand.span; left > 0;) {
    double at = rng.Uniform() * all;
    std::size_t c = 0;
    while (c + 1 < demand.classes.size() && at >= JobsOf(demand.classes[c])) {
      at -= JobsOf(demand.classes[c++]);
    }
    const GangClass& gang = demand.classes[c];
    Job job;
    job.gpus = gang.gpus;
    job.duration = std::clamp(gang.hours * 3600 * std::exp(gang.spread * rng.Normal()), kShortest,
                              demand.longest);
    job.submit = rng.Uniform(0, demand.span);
    left -= job.gpus * job.duration;
    workload.jobs.push_back(std::move(job));
  }
  std::stable_sort(workload.jobs.begin(), workload.jobs.end(),
                   [](const Job& a, const Job& b) { return a.submit < b.submit; });
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) workload.jobs[i].id = std::to_string(i);
  return workload;
}

void MakeGangsElastic(GpuCount most, std::uint64_t seed, Workload* workload) {
  MakeElastic({.seed = seed, .growth = 4, .cap = most, .least_efficiency = 0}, PowerLawCatalogue(),
              workload);
}

}  // namespace allot
