#include "sched/incremental.h"

#include "core/index.h"

namespace allot {

Seconds HoldsUntil(Policy& policy, const Observation& observation,
                   std::span<const std::int32_t> running) {
  if (!policy.info().time_driven) return kNever;
  IncrementalPolicy* const side = policy.incremental();
  return side == nullptr ? 0 : side->HoldsUntil(observation, running);
}

std::span<const std::int32_t> RunningUnder::Of(const Observation& o, const Allocation& answer) {
  running_.assign(o.job.size(), -1);
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    const std::size_t job = At(o.job[At(row)]);
    if (job >= row_of_job_.size()) row_of_job_.resize(job + 1);
    row_of_job_[job] = row;
  }
  for (const Allocation::Entry& entry : answer.entries()) {
    if (entry.job < 0 || At(entry.job) >= row_of_job_.size()) continue;
    const std::int32_t row = row_of_job_[At(entry.job)];
    if (row < o.rows() && o.job[At(row)] == entry.job) running_[At(row)] = entry.configuration;
  }
  return running_;
}

}  // namespace allot
