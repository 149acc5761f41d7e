#include "agents/training/backlog.h"

#include <algorithm>

namespace allot {

Backlog BacklogMeter::Of(const Observation& o) {
  const double gpus = std::max(1, o.cluster->total().gpus);
  double alone = 0;
  costs_.clear();
  for (std::size_t r = 0; r < o.job.size(); ++r) {
    const double left = std::max(0.0, scenario_.facts(o.job[r]).work - o.done_work[r]);
    alone += left / o.table[r]->best_rate();
    costs_.push_back(left / o.table[r]->best_efficiency() / gpus);
  }
  std::sort(costs_.begin(), costs_.end());
  const auto jobs = static_cast<double>(costs_.size());
  double end = 0;
  double fluid = 0;
  for (const double cost : costs_) {
    end += cost;
    fluid += end;
  }
  const auto& all = scenario_.workload().jobs;
  const auto next = std::upper_bound(all.begin(), all.end(), o.now,
                                     [](Seconds now, const Job& job) { return now < job.submit; });
  return {jobs, alone, fluid, jobs * end, end * static_cast<double>(all.end() - next)};
}

}  // namespace allot
