#include "live/workers/start_backoff.h"

#include <algorithm>
#include <utility>

namespace allot {

void StartBackoff::Progressed(std::int64_t step) {
  if (step > step_at_failure) failures = 0;
}

void StartBackoff::Failed(std::int64_t step, Seconds now, const BackoffOptions& options) {
  Progressed(step);
  step_at_failure = std::max(step_at_failure, step);
  late_tries = 0;
  CountFailure(now, options);
}

void StartBackoff::WasLate(std::int64_t step, Seconds now, const BackoffOptions& options) {
  Progressed(step);
  if (late_tries == 0 || now >= not_before) ++late_tries;
  CountFailure(now, options);
}

void StartBackoff::Refused(std::string why, Seconds now, const BackoffOptions& options) {
  if (refusals == 0) refused_since = now;
  refusal = std::move(why);
  BackOff(++refusals, now, options);
}

void StartBackoff::Accepted() {
  refusals = 0;
  refusal.clear();
}

void StartBackoff::CountFailure(Seconds now, const BackoffOptions& options) {
  if (failures == 0 || now >= not_before) BackOff(++failures, now, options);
}

void StartBackoff::BackOff(int times, Seconds now, const BackoffOptions& options) {
  const double doubled = options.first * static_cast<double>(1 << std::min(times - 1, 20));
  not_before = now + std::min(options.longest, doubled);
}

}  // namespace allot
