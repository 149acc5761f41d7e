#include "sched/starvation_guard.h"

namespace allot {

void StarvationGuard::Observe(const Observation& o, std::span<const std::int32_t> rows) {
  if (!on()) return;
  for (const std::int32_t row : rows) {
    const auto r = static_cast<std::size_t>(row);
    const auto job = static_cast<std::size_t>(o.job[r]);
    if (job >= waits_from_.size()) waits_from_.resize(job + 1, kUnseen);
    Seconds& from = waits_from_[job];
    if (from == kStarved) continue;
    if (from == kUnseen || o.running[r] >= 0) {
      // A running job, if it is stopped now, begins to wait at the next decision.
      from = o.running[r] >= 0 ? o.now + o.interval : o.now;
    } else if (o.now - from >= limit_) {
      from = kStarved;
    }
  }
}

Seconds StarvationGuard::StarvesAt(JobIndex job) const {
  return on() && Entry(job) >= 0 ? Entry(job) + limit_ : kNever;
}

}  // namespace allot
