#pragma once
// How much service jobs took that have ended. An observation does not tell: a job that has ended is
// just not in it any more. Kept by orderings that learn from a run; one Observe a decision.

#include <cstdint>
#include <vector>

#include "cluster/observation.h"

namespace allot {

class EndedJobs {
 public:
  struct Ended {
    JobIndex job;
    std::int32_t size;  // requested GPUs
    std::int32_t user;  // as in the observation
    std::int32_t group;
    double gpu_seconds;  // estimated service, see below
    double seconds;      // the same as progress: seconds at the requested size
    double estimated;    // its estimate in GPU-seconds at the requested size; NaN: none
  };

  void OnEpisodeStart() { last_.clear(); }

  // The jobs that were there the last time and are no more, by job. O(rows) where they come by job,
  // as they do from every cluster. A job runs until its end in
  // what the last decision gave it, and a decision follows within an interval of every end. So its
  // service is that of the last observation plus its GPUs (those it ran on then, else those it
  // asked for) from then to the middle of the time in which it can have ended: off by at most half
  // an interval's service, if it was not resized meanwhile.
  const std::vector<Ended>& Observe(const Observation& observation);

 private:
  // Plain numbers of a row: what they come to is reckoned only for those that end.
  struct Seen {
    JobIndex job;
    std::int32_t asked_gpus;
    std::int32_t held_gpus;  // where it waits, what it asked for
    std::int32_t user;
    std::int32_t group;
    double asked_rate;
    double held_rate;
    double done_work;
    double estimated_work;
    double gpu_seconds;
  };
  Ended Reckon(const Seen& seen, Seconds ran) const;

  std::vector<Seen> last_;  // by job
  std::vector<Seen> now_;
  std::vector<Ended> ended_;
  Seconds last_time_ = 0;
};

// Progress of a row so far, in seconds at the requested size.
double AttainedAtRequested(const Observation& observation, std::int32_t row);

// The estimated length of a row as GPU time at the requested size; NaN when there is none.
double EstimatedGpuSeconds(const Observation& observation, std::int32_t row);

}  // namespace allot
