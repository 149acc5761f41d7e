#include "live/runtimes/slurm/idle_times.h"

#include <cmath>

namespace allot {

std::map<std::string, std::uint32_t> IdleTimes::Due(const std::map<std::string, bool>& idle,
                                                    Seconds now) {
  constexpr Seconds kMinute = 60;
  constexpr Seconds kUnnoticed = 10;  // workers take a second to begin
  std::erase_if(times_, [&](const auto& time) { return !idle.contains(time.first); });
  const Seconds passed = times_.empty() ? 0 : now - seen_;
  seen_ = now;
  std::map<std::string, std::uint32_t> due;
  for (const auto& [job, is_idle] : idle) {
    const auto [known, is_new] = times_.try_emplace(job);
    if (!is_idle) continue;
    Time& time = known->second;
    if (!is_new) time.idle += passed;
    if (time.idle < kUnnoticed) continue;
    const auto wanted = static_cast<std::uint32_t>(std::floor(time.idle / kMinute)) + 1;
    if (wanted > time.given) due[job] = wanted - time.given;
  }
  return due;
}

void IdleTimes::Raised(const std::string& job, std::uint32_t minutes) {
  const auto known = times_.find(job);
  if (known != times_.end()) known->second.given += minutes;
}

}  // namespace allot
