#include "sched/starvation_guard.h"

#include <algorithm>

namespace allot {

void StarvationGuard::OnEpisodeStart() {
  waits_from_.clear();
  any_starved_ = false;
  longest_from_ = kNever;
}

void StarvationGuard::Observe(const Observation& o, std::span<const std::int32_t> rows) {
  if (!on()) return;
  longest_from_ = kNever;
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
      any_starved_ = true;
      continue;
    }
    longest_from_ = std::min(longest_from_, from);
  }
}

Seconds StarvationGuard::FirstToStarve(const Observation& o, std::span<const std::int32_t> rows,
                                       Seconds until) const {
  if (!on() || longest_from_ + limit_ >= until) return until;
  for (const std::int32_t row : rows) {
    const Seconds from = From(o.job[static_cast<std::size_t>(row)]);
    if (from >= 0) until = std::min(until, from + limit_);
  }
  return until;
}

}  // namespace allot
