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
  const bool as_changes = listeners.empty() && cluster.TakesChanges();
  const auto decide = [&](const Observation& observation) {
    if (as_changes) {
      policy.DecideChanges(observation, &allocation);
    } else {
      policy.Decide(observation, &allocation);
    }
  };
  const auto holds_until = [&]() -> Seconds {
    if (!time_driven) return kNever;
    if (!as_changes) return allocation.holds_until();
    return cluster.AsksHowLong() ? policy.HoldsUntil(cluster.Observe(), allocation) : 0;
  };
  while (true) {
    const Observation& observation = cluster.Observe();
    if (options.time_decisions) {
      const auto start = Clock::now();
      decide(observation);
      const std::chrono::duration<float, std::micro> took = Clock::now() - start;
      result.decision_us.push_back(took.count());
    } else {
      decide(observation);
    }
    const auto refuse_unless = [&](const Status& status) {
      if (status.ok()) return;
      throw RunError("policy '{}', decision {} at {} s: {}", policy.info().id, observation.decision,
                     observation.now, status.message());
    };
    // Listeners see valid answers only.
    const bool validate = !listeners.empty() && !options.valid_answers;
    if (validate) refuse_unless(cluster.Validate(allocation));
    for (DecisionListener* listener : listeners) listener->OnDecision(observation, allocation);
    const ApplyReport report = validate || options.valid_answers
                                   ? cluster.ApplyValidated(allocation)
                                   : cluster.Apply(allocation);
    refuse_unless(report.refused);
    ++result.decisions;
    ThrowIfInterrupted();
    if (options.max_decisions >= 0 && result.decisions >= options.max_decisions) break;
    try {
      if (!cluster.WaitForChange(holds_until())) break;
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("policy '{}': {}", policy.info().id, error.what()));
    }
    if (options.enough && options.enough()) break;
  }
  return result;
}

}  // namespace allot
