#include "forecast/ended_jobs.h"

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

EndedJobs::Ended EndedJobs::Reckon(const Seen& seen, Seconds ran) const {
  return {.job = seen.job,
          .size = seen.asked_gpus,
          .user = seen.user,
          .group = seen.group,
          .gpu_seconds = seen.gpu_seconds + seen.held_gpus * ran,
          .seconds = seen.done_work / seen.asked_rate + seen.held_rate / seen.asked_rate * ran,
          .estimated = seen.estimated_work / seen.asked_rate * seen.asked_gpus};
}

const std::vector<EndedJobs::Ended>& EndedJobs::Observe(const Observation& o) {
  const auto rows = static_cast<std::size_t>(o.rows());
  now_.resize(rows);
  ended_.reserve(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    const ConfigurationTable& table = *o.table[r];
    const Configuration& asked = table[o.requested[r]];
    const Configuration& held = o.running[r] >= 0 ? table[o.running[r]] : asked;
    now_[r] = {o.job[r],
               asked.demand.gpus,
               held.demand.gpus,
               o.user[r],
               o.group[r],
               asked.rate,
               held.rate,
               o.done_work[r],
               o.estimated_work[r],
               o.attained_gpu_seconds[r]};
  }
  const auto by_job = [](const Seen& a, const Seen& b) { return a.job < b.job; };
  if (!std::is_sorted(now_.begin(), now_.end(), by_job)) {
    std::sort(now_.begin(), now_.end(), by_job);
  }
  ended_.clear();
  const Seconds ran = (std::max(last_time_, o.now - o.interval) + o.now) / 2 - last_time_;
  auto present = now_.begin();
  for (const Seen& seen : last_) {
    while (present != now_.end() && present->job < seen.job) ++present;
    if (present != now_.end() && present->job == seen.job) continue;
    ended_.push_back(Reckon(seen, ran));
  }
  last_.swap(now_);
  last_time_ = o.now;
  return ended_;
}

}  // namespace allot
