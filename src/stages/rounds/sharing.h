#pragma once
// The stage that says how jobs share a cluster over time: instead of one configuration a job, the
// fraction of time in each. Rounds (stages/rounds/rounds.h) turn fractions into allocations, one
// interval after the other; SharedPolicy (stages/rounds/shared_policy.h) is the policy of both. A
// sharing is one file in stages/rounds/sharing/ that registers a SharingInfo.

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/observation.h"
#include "sched/policy.h"
#include "sched/stages.h"
#include "sched/time_shares.h"

namespace allot {

class Sharing {
 public:
  virtual ~Sharing() = default;
  // Called before the first decision of each episode: what is remembered of the one before goes.
  virtual void OnEpisodeStart(const EpisodeContext&) {}

  // Appends shares of these rows. A job's shares sum to at most 1, with those in which it is the
  // partner; on each GPU type the GPUs of shares, each times its share, to at most those of the
  // type. Jobs without any share are known to need none. Asked again only when a job has arrived or
  // ended, a table was renewed or a node has come or gone, and not more often than the policy's
  // parameter `reset` says: events of the observation may be missing, rows tell all. The answer
  // does not depend on the order of rows.
  virtual void Share(const Observation& observation, std::span<const std::int32_t> rows,
                     std::vector<TimeShare>* shares) = 0;

  // Whether it reads lengths as it was made; asked only of kinds that may (needs_lengths).
  virtual bool reads_lengths() const { return true; }

  // As Policy::notes.
  virtual PolicyNotes notes() const { return {}; }
};

// How much a job counts against others: its priority, or 1 where that says nothing (0 and less).
inline double WeightOf(const Observation& observation, std::int32_t row) {
  const double priority = observation.priority[static_cast<std::size_t>(row)];
  return priority > 0 ? priority : 1;
}

using SharingInfo = StageInfo<Sharing>;

}  // namespace allot
