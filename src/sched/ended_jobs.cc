#include "sched/ended_jobs.h"

#include <algorithm>

namespace allot {

double EstimatedGpuSeconds(const Observation& o, std::int32_t row) {
  const auto r = static_cast<std::size_t>(row);
  const Configuration& asked = (*o.table[r])[o.requested[r]];
  return o.estimated_work[r] / asked.rate * asked.demand.gpus;
}

double AttainedAtRequested(const Observation& o, std::int32_t row) {
  const auto r = static_cast<std::size_t>(row);
  return o.done_work[r] / (*o.table[r])[o.requested[r]].rate;
}

const std::vector<EndedJobs::Ended>& EndedJobs::Observe(const Observation& o) {
  now_.clear();
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    const auto r = static_cast<std::size_t>(row);
    const ConfigurationTable& table = *o.table[r];
    const GpuCount asked = table[o.requested[r]].demand.gpus;
    const Configuration& held = table[o.running[r] >= 0 ? o.running[r] : o.requested[r]];
    now_.push_back({{o.job[r], asked, o.attained_gpu_seconds[r], AttainedAtRequested(o, row),
                     EstimatedGpuSeconds(o, row)},
                    static_cast<double>(held.demand.gpus),
                    held.rate / table[o.requested[r]].rate});
  }
  const auto by_job = [](const Seen& a, const Seen& b) { return a.so_far.job < b.so_far.job; };
  if (!std::is_sorted(now_.begin(), now_.end(), by_job)) {
    std::sort(now_.begin(), now_.end(), by_job);
  }
  ended_.clear();
  const Seconds earliest = std::max(last_time_, o.now - o.interval);
  auto present = now_.begin();
  for (const Seen& seen : last_) {
    present = std::lower_bound(present, now_.end(), seen, by_job);
    if (present != now_.end() && present->so_far.job == seen.so_far.job) continue;
    ended_.push_back(seen.so_far);
    const Seconds ran = (earliest + o.now) / 2 - last_time_;
    ended_.back().gpu_seconds += seen.gpus * ran;
    ended_.back().seconds += seen.speed * ran;
  }
  last_.swap(now_);
  last_time_ = o.now;
  return ended_;
}

}  // namespace allot
