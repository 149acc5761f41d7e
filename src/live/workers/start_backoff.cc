#include "live/workers/start_backoff.h"

#include <algorithm>
#include <utility>

namespace allot {

void StartBackoff::Progressed(std::int64_t step) {
  if (step > step_at_failure) failures = 0;
}

WorkerFailure StartBackoff::Failed(std::int64_t step, Seconds now, const BackoffOptions& options) {
  Progressed(step);
  step_at_failure = std::max(step_at_failure, step);
  late_tries = 0;
  return CountFailure(now, options);
}

WorkerFailure StartBackoff::WasLate(std::int64_t step, Seconds now, const BackoffOptions& options) {
  Progressed(step);
  if (late_tries == 0 || now >= not_before) ++late_tries;
  return CountFailure(now, options);
}

void StartBackoff::Excuse(int its_failures) { failures = std::max(0, failures - its_failures); }

void StartBackoff::Refused(std::string why, Seconds now, const BackoffOptions& options) {
  if (refusals == 0) refused_since = now;
  refusal = std::move(why);
  BackOff(++refusals, now, options);
}

void StartBackoff::Accepted() {
  refusals = 0;
  refusal.clear();
}

WorkerFailure StartBackoff::CountFailure(Seconds now, const BackoffOptions& options) {
  if (failures > 0 && now < not_before) return WorkerFailure::kTogether;
  BackOff(++failures, now, options);
  return WorkerFailure::kNew;
}

void StartBackoff::BackOff(int times, Seconds now, const BackoffOptions& options) {
  const double doubled = options.first * static_cast<double>(1 << std::min(times - 1, 20));
  not_before = now + std::min(options.longest, doubled);
}

}  // namespace allot
