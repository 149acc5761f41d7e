#include "sched/driver.h"

#include <chrono>

#include "core/error.h"
#include "core/interrupt.h"

namespace allot {

DriveResult Drive(ClusterPort& cluster, Policy& policy, const EpisodeContext& context,
                  std::span<DecisionListener* const> listeners, const DriveOptions& options) {
  using Clock = std::chrono::steady_clock;
  DriveResult result;
  Allocation allocation;
  policy.OnEpisodeStart(context);
  const bool time_driven = policy.info().time_driven;
  while (true) {
    const Observation& observation = cluster.Observe();
    if (options.time_decisions) {
      const auto start = Clock::now();
      policy.Decide(observation, &allocation);
      const std::chrono::duration<float, std::micro> took = Clock::now() - start;
      result.decision_us.push_back(took.count());
    } else {
      policy.Decide(observation, &allocation);
    }
    const auto refuse_unless = [&](const Status& status) {
      if (status.ok()) return;
      throw RunError("policy '{}', decision {} at {} s: {}", policy.info().id, observation.decision,
                     observation.now, status.message());
    };
    if (!listeners.empty())
      refuse_unless(cluster.Validate(allocation));  // they see valid ones only
    for (DecisionListener* listener : listeners) listener->OnDecision(observation, allocation);
    const ApplyReport report = cluster.Apply(allocation);
    refuse_unless(report.refused);
    ++result.decisions;
    ThrowIfInterrupted();
    if (options.max_decisions >= 0 && result.decisions >= options.max_decisions) break;
    try {
      if (!cluster.WaitForChange(time_driven ? allocation.holds_until() : kNever)) break;
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("policy '{}': {}", policy.info().id, error.what()));
    }
    if (options.enough && options.enough()) break;
  }
  return result;
}

}  // namespace allot
