#include "sched/driver.h"

#include <chrono>
#include <optional>

#include "cluster/incremental_cluster.h"
#include "cluster/no_progress.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "sched/incremental.h"
#include "sched/promise_check.h"

namespace allot {
namespace {

class Driver {
 public:
  Driver(ClusterPort& cluster, Policy& policy, std::span<DecisionListener* const> listeners,
         const DriveOptions& options)
      : cluster_(cluster),
        policy_(policy),
        side_(policy.incremental()),
        time_driven_(policy.info().time_driven),
        listeners_(listeners),
        options_(options) {
    if (listeners.empty() && side_ != nullptr) cluster_side_ = cluster.incremental();
    if (options.twin != nullptr) check_.emplace(cluster, policy, *options.twin);
  }

  DriveResult Run(const EpisodeContext& context) {
    policy_.OnEpisodeStart(context);
    if (check_) check_->OnEpisodeStart(context);
    while (true) {
      const Observation& observation = cluster_.Observe();
      TimedDecide(observation);
      if (check_) {
        check_->Answer(observation, as_changes_ ? InFull(observation, changes_) : allocation_);
      }
      const Seconds holds_until = as_changes_ ? ApplyChanges(observation) : Apply(observation);
      ++result_.decisions;
      ThrowIfInterrupted();
      if (options_.max_decisions >= 0 && result_.decisions >= options_.max_decisions) break;
      if (!Wait(holds_until)) break;
      if (options_.enough && options_.enough()) break;
    }
    return std::move(result_);
  }

 private:
  void TimedDecide(const Observation& observation) {
    using Clock = std::chrono::steady_clock;
    if (!options_.time_decisions) return Decide(observation);
    const auto start = Clock::now();
    Decide(observation);
    const std::chrono::duration<float, std::micro> took = Clock::now() - start;
    result_.decision_us.push_back(took.count());
  }

  void Decide(const Observation& observation) {
    as_changes_ = cluster_side_ != nullptr && side_->DecideChanges(observation, &changes_);
    if (!as_changes_) return policy_.Decide(observation, &allocation_);
#ifndef NDEBUG
    policy_.Decide(observation, &allocation_);
    RequireSameAnswer(policy_, observation, changes_, allocation_);
#endif
  }

  // These return the time until which the answer is valid.
  Seconds Apply(const Observation& observation) {
    // Listeners see valid answers only.
    const bool validate = !listeners_.empty() && !options_.valid_answers;
    if (validate) RefuseUnless(cluster_.Validate(allocation_), observation);
    for (DecisionListener* listener : listeners_) listener->OnDecision(observation, allocation_);
    Seconds holds_until = time_driven_ ? 0 : kNever;
    if (time_driven_ && side_ != nullptr) {
      holds_until = side_->HoldsUntil(observation, running_.Of(observation, allocation_));
    }
    const ApplyReport report = validate || options_.valid_answers
                                   ? cluster_.ApplyValidated(allocation_)
                                   : cluster_.Apply(allocation_);
    RefuseUnless(report.refused, observation);
    return holds_until;
  }

  Seconds ApplyChanges(const Observation& observation) {
    RefuseUnless(cluster_side_->ApplyChanges(changes_).refused, observation);
    if (!time_driven_) return kNever;
    if (!cluster_side_->PromiseMatters()) return 0;
    const Observation& applied = cluster_.Observe();
    return side_->HoldsUntil(applied, applied.running);
  }

  bool Wait(Seconds holds_until) {
    try {
      return check_ ? check_->WaitForChange(holds_until) : cluster_.WaitForChange(holds_until);
    } catch (const NoProgress& error) {
      throw NoProgress(fmt::format("policy '{}': {}", policy_.info().id, error.what()));
    }
  }

  void RefuseUnless(const Status& status, const Observation& observation) const {
    if (status.ok()) return;
    throw RunError("policy '{}', decision {} at {} s: {}", policy_.info().id, observation.decision,
                   observation.now, status.message());
  }

  ClusterPort& cluster_;
  Policy& policy_;
  IncrementalPolicy* const side_;               // null: none
  IncrementalCluster* cluster_side_ = nullptr;  // null: full answers only
  const bool time_driven_;
  std::span<DecisionListener* const> listeners_;
  const DriveOptions& options_;
  std::optional<PromiseCheck> check_;
  DriveResult result_;
  bool as_changes_ = false;  // the last answer: in changes_, or else in allocation_
  Allocation allocation_;
  AllocationChanges changes_;
  RunningUnder running_;
};

}  // namespace

DriveResult Drive(ClusterPort& cluster, Policy& policy, const EpisodeContext& context,
                  std::span<DecisionListener* const> listeners, const DriveOptions& options) {
  return Driver(cluster, policy, listeners, options).Run(context);
}

}  // namespace allot
