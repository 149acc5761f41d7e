#pragma once
// One future of a wait forecast (WaitForecaster): simulates the jobs of a moment under a policy,
// and records when each of them starts and ends. An object serves one simulation.

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sched/policy.h"
#include "sim/ruled_simulation.h"
#include "sim/scenario.h"

namespace allot {

struct FutureLimits {
  Seconds horizon = kNever;  // largest simulated time
  // Largest simulated time once all jobs have started: they then keep their present rates.
  Seconds settle = kNever;
  Seconds part = kNever;  // the scenario contains arrivals up to here; at most the horizon
  std::int64_t rows = std::numeric_limits<std::int64_t>::max();  // shown to the policy in all
  double step = 0;                                               // SimulatedCluster::Throttle
  std::optional<JobIndex> only{};  // set: the future ends when this job has started
};

class Future {
 public:
  enum class End {
    kComplete,     // up to the horizon, or until nothing was left to learn
    kBeyondPart,   // a time after `part` is needed: the result is void
    kBudgetSpent,  // the rows were used up at `ahead()`
  };

  // `start` has the scenario's first jobs; the further ones arrive later. Both must outlive this.
  Future(const Scenario& world, const Observation& start, const RulesPast& past,
         const FutureLimits& limits);

  // `pause` is called before every decision but the first; it may wait or throw. RunError if the
  // policy breaks a rule.
  End Simulate(Policy& policy, const EpisodeContext& context, const std::function<void()>& pause);

  Seconds ahead() const { return seen_.now - start_.now; }  // simulated time
  std::int64_t rows_shown() const { return rows_shown_; }

  // Times of a job of the moment; kNever if later than the simulated time. Both are kUnknown for a
  // job that gets nothing of an idle cluster: it waits for something that is not simulated, such as
  // a node that is down.
  Seconds StartOf(JobIndex job) const { return starts_[static_cast<std::size_t>(job)]; }
  Seconds EndOf(JobIndex job) const { return ends_[static_cast<std::size_t>(job)]; }

 private:
  void RecordStarts();  // by the last decision
  bool StaysIdle();
  bool HasStarted(JobIndex job) const { return starts_[static_cast<std::size_t>(job)] != kNever; }
  bool Enough();
  void RecordEnds();

  const Scenario& world_;
  const Observation& start_;
  FutureLimits limits_;
  RuledSimulation simulation_;
  SimulatedCluster& cluster_;      // of the simulation
  const Observation& seen_;        // the present one, with what rules hide
  JobIndex known_;                 // number of jobs of the moment
  std::vector<JobIndex> waiting_;  // those of them that have not started
  std::vector<Seconds> starts_;    // by job
  std::vector<Seconds> ends_;
  std::int64_t rows_shown_ = 0;
  Seconds idle_since_ = kNever;  // since when decisions leave the cluster idle and jobs waiting
  End end_ = End::kComplete;
};

}  // namespace allot
