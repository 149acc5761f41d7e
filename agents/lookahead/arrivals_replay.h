#pragma once
// How another policy would have served the jobs of a run: the arrivals, as far as observations show
// them, and the mean JCT of a policy on them in simulation. Used by the policy 'guarded'.
//
// An ended job took the work that its event tells. Another job takes the work it has done plus
// AssumedRemaining. JCTs are cut at the present on both sides, so that the measured and the
// simulated mean are of the same jobs and the same time.

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "sched/policy.h"
#include "sim/scenario.h"

namespace allot {

class ArrivalsReplay {
 public:
  // Once more than `memory` jobs came, those that are there begin anew, as arrivals of that moment
  // with the work they have left.
  ArrivalsReplay(SimOptions rules, std::size_t memory)
      : rules_(std::move(rules)), memory_(memory) {}

  void OnEpisodeStart();
  void Observe(const Observation& observation);

  std::int64_t ended() const { return ended_count_; }  // of the jobs in memory
  double MeasuredMeanJct(const Observation& now) const;
  double SimulatedMeanJct(const Observation& now, Policy& policy) const;

 private:
  struct Seen {
    Seconds submit = 0;
    std::shared_ptr<const ConfigurationTable> table;
    std::int32_t requested = 0;
    double done_before = 0;  // it came with
    double work = 0;         // estimated total
    double estimate = 0;
    Seconds end = kNever;
  };
  std::shared_ptr<const ConfigurationTable> Copy(const ConfigurationTable* table);
  void Begin(const Observation& observation);

  SimOptions rules_;
  std::size_t memory_;
  EventCursor events_;
  std::map<JobIndex, Seen> jobs_;
  std::map<const ConfigurationTable*, std::shared_ptr<const ConfigurationTable>> tables_;
  std::int64_t ended_count_ = 0;
};

}  // namespace allot
