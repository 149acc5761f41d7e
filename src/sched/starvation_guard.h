#pragma once
// A guard against starvation: a job that has waited without a break for longer than a limit goes
// before all others from then on (Blox: 1000 hours). Kept by StagedPolicy, which asks it at every
// decision; O(rows) each.

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

  // `rows`: the admitted ones. A wait counts from the first decision that saw the job, or from the
  // first after the one that stopped it.
  void Observe(const Observation& observation, std::span<const std::int32_t> rows);

  bool Starved(JobIndex job) const { return any_starved_ && From(job) == kStarved; }
  // When the first of these rows starves, all of which were observed and wait; at most `until`.
  Seconds FirstToStarve(const Observation& observation, std::span<const std::int32_t> rows,
                        Seconds until) const;

 private:
  static constexpr Seconds kUnseen = -1;
  static constexpr Seconds kStarved = -2;
  Seconds From(JobIndex job) const { return waits_from_[static_cast<std::size_t>(job)]; }

  Seconds limit_;
  std::vector<Seconds> waits_from_;  // by job
  bool any_starved_ = false;         // of all jobs ever seen
  Seconds longest_from_ = kNever;    // of the rows last observed: nobody waits for longer
};

}  // namespace allot
