#pragma once
// One future of a forecast (wait_forecast/outlook.h): the jobs of a moment played ahead under a
// policy, and when each of them starts and ends. Made for one future and followed once.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sched/policy.h"
#include "sim/scenario.h"
#include "sim/simulated_cluster.h"

namespace allot {

struct FutureLimits {
  Seconds horizon = kNever;  // it is followed so far ahead, at most
  // Nor further than this, once all have started: what runs then is taken to run on as it does.
  Seconds settle = kNever;
  Seconds part = kNever;   // the scenario has the arrivals of this time; at most the horizon
  std::int64_t rows = -1;  // that the policy may be shown, over all decisions; -1: any number
};

class Future {
 public:
  enum class End {
    kFollowed,   // as far as the limits say
    kPartOver,   // more than `part` would have to be played: nothing is known
    kRowsShown,  // no rows were left: it was followed up to `ahead`
  };

  // `start`: with jobs from 0; further ones of the scenario come later. All must outlive this.
  Future(const Scenario& world, const Observation& start, const FutureLimits& limits);

  // `rest`: asked before every decision but the first; may wait, and throw. RunError where the
  // policy breaks a rule.
  End Follow(Policy& policy, const EpisodeContext& context, const std::function<void()>& rest);

  Seconds ahead() const { return seen_.now - start_.now; }  // how far it was followed
  std::int64_t rows_shown() const { return rows_shown_; }

  // By job of the moment. kNever: later than it was followed. kUnknown, both, of a job that gets
  // nothing of an idle cluster: what it waits for, as a node that is down, is in no future.
  Seconds StartOf(JobIndex job) const { return starts_[static_cast<std::size_t>(job)]; }
  Seconds EndOf(JobIndex job) const { return ends_[static_cast<std::size_t>(job)]; }

 private:
  void NoteStarts();  // of the last decision
  bool StaysIdle();   // as it is, as far as is known
  bool Enough();
  void NoteEnds();

  const Scenario& world_;
  const Observation& start_;
  FutureLimits limits_;
  SimulatedCluster cluster_;
  const Observation& seen_;        // as it is now
  JobIndex known_;                 // jobs of the moment
  std::vector<JobIndex> waiting_;  // of these
  std::vector<Seconds> starts_;    // by job
  std::vector<Seconds> ends_;
  std::int64_t rows_shown_ = 0;
  Seconds idle_since_ = kNever;  // jobs wait, and decisions give them nothing
  End end_ = End::kFollowed;
};

}  // namespace allot
