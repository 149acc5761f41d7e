#include "sched/recorded_policy.h"

#include "core/error.h"

namespace allot {

void DecisionCollector::OnDecision(const Observation& observation, const Allocation& allocation) {
  log_->times.push_back(observation.now);
  log_->allocations.push_back(allocation);
}

RecordedPolicy::RecordedPolicy(const DecisionLog& log) : log_(log) {
  info_.id = "recorded";
  info_.summary = "decisions of a log, played back";
  info_.time_driven = true;
}

void RecordedPolicy::Decide(const Observation& observation, Allocation* allocation) {
  if (next_ >= log_.times.size()) {
    throw DataError("the log ends after {} decisions, but the run asks for one at {} s",
                    log_.times.size(), observation.now);
  }
  if (log_.times[next_] != observation.now) {
    throw DataError("decision {} of the log is at {} s, the run is at {} s: not the same scenario",
                    next_, log_.times[next_], observation.now);
  }
  *allocation = log_.allocations[next_++];
}

Seconds RecordedPolicy::HoldsUntil(const Observation& /*observation*/,
                                   std::span<const std::int32_t> /*running*/) {
  return next_ < log_.times.size() ? log_.times[next_] : kNever;
}

}  // namespace allot
