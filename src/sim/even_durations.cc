#include "sim/even_durations.h"

#include <algorithm>

namespace allot {

std::vector<Seconds> EvenDurations(const Scenario& scenario) {
  std::vector<Seconds> durations;
  const ClusterSpec& cluster = scenario.cluster();
  if (cluster.types().size() < 2) return durations;
  const double gpus = cluster.total().gpus;
  for (const Job& job : scenario.workload().jobs) {
    const auto number = static_cast<JobIndex>(durations.size());
    const Scenario::JobFacts& facts = scenario.facts(number);
    const UnitCounts& units = (*facts.table)[facts.requested].units;
    double rate = 0;
    for (std::size_t t = 0; t < cluster.types().size(); ++t) {
      const auto type = static_cast<GpuTypeIndex>(t);
      const std::int32_t c = facts.table->Find(units, type);
      if (c < 0) continue;
      rate += std::max(0.0, (*facts.table)[c].rate) * cluster.total_of(type).gpus / gpus;
    }
    durations.push_back(rate > 0 ? facts.work / rate : job.duration);
  }
  return durations;
}

}  // namespace allot
