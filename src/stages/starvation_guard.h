#pragma once
// A guard against starvation: a job that has waited without a break for longer than a limit goes
// before all others from then on (Blox: 1000 hours; option `max-wait`). Used by StagedPolicy at
// every decision; O(log rows) for each job that starts, stops, comes or goes.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "cluster/observation.h"

namespace allot {

class StarvationGuard {
 public:
  explicit StarvationGuard(Seconds limit) : limit_(limit) {}  // 0: never
  bool on() const { return limit_ > 0; }
  void OnEpisodeStart();

  // `gone`: jobs that are admitted no longer. `changed`: the rows that were not before, have
  // started or stopped; it may name others. A wait counts from the first decision that saw the job,
  // or from the first after the one that stopped it. Returns whether somebody starves who did not.
  bool Observe(const Observation& observation, std::span<const JobIndex> gone,
               std::span<const std::int32_t> changed);

  bool any_starved() const { return any_starved_; }  // of all jobs ever seen
  bool Starved(JobIndex job) const {
    return any_starved_ && waits_[static_cast<std::size_t>(job)].from == kStarved;
  }
  // Whether the job was waiting when it was last observed, and not starved.
  bool Waited(JobIndex job) const { return waits_[static_cast<std::size_t>(job)].waits; }

  // When the first of these rows starves, all of which were observed and wait from now on; at most
  // `until`. `given(job)`: whether the job runs from now on.
  template <typename Given>
  Seconds FirstToStarve(const Observation& observation, std::span<const std::int32_t> rows,
                        const Given& given, Seconds until) {
    if (!on()) return until;
    passed_.clear();
    const Wait* first = Longest();
    for (; first != nullptr && given(first->job); first = Longest()) {
      passed_.push_back(*first);
      PopLongest();
    }
    if (first != nullptr) {
      until = std::min(until, first->from + limit_);
    } else {  // only jobs that were stopped just now
      for (const std::int32_t row : rows) {
        const State& state =
            waits_[static_cast<std::size_t>(observation.job[static_cast<std::size_t>(row)])];
        if (state.waits || state.from == kStarved) continue;
        until = std::min(until, WaitOf(state) + limit_);
      }
    }
    for (const Wait& wait : passed_) Push(wait);
    return until;
  }

 private:
  static constexpr Seconds kUnseen = -1;
  static constexpr Seconds kStarved = -2;
  static constexpr Seconds kRuns = -3;
  struct State {
    Seconds from = kUnseen;
    bool waits = false;  // admitted, not running and not starved: has a place among the waits
  };
  struct Wait {
    Seconds from;
    JobIndex job;
  };
  // When a job that does not wait yet began to, if it was stopped after the last observation.
  Seconds WaitOf(const State& state) const {
    return state.from == kRuns ? stopped_from_ : state.from;
  }
  const Wait* Longest();  // null: no job waits
  void PopLongest();
  void Push(const Wait& wait);

  Seconds limit_;
  Seconds stopped_from_ = 0;   // the decision after the last observation
  std::vector<State> waits_;   // by job
  std::vector<Wait> longest_;  // a heap, the longest wait on top; some are over
  std::vector<Wait> passed_;   // scratch
  bool any_starved_ = false;   // of all jobs ever seen
};

}  // namespace allot
