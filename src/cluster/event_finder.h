#pragma once
// Events of observations that come without any: a host's snapshots, recorded observations. Found by
// comparing each with the one before.

#include <cstdint>
#include <vector>

#include "cluster/observation.h"

namespace allot {

class EventFinder {
 public:
  void Reset() { *this = EventFinder(); }

  // Sets observation->events. The first time, every row has arrived. O(rows) where rows ascend by
  // job, as they mostly do.
  //
  // When a job ended, and what it received until then, is not known exactly. It ran until its end
  // in what it had before (a job that waited: in what it asked for), and a decision follows within
  // an interval of every end. So the end is taken to be in the middle of the time that is left: off
  // by at most half an interval, if the job was not resized meanwhile.
  //
  // A table counts as changed when its content is another (fingerprint), wherever it lies.
  void Find(Observation* observation);

 private:
  struct Seen {
    EndedJob last;
    GpuCount held_gpus;
    double held_rate;
    std::int32_t running;
    std::int32_t changes;
    std::uint64_t table;  // its fingerprint
    std::int32_t row;
  };
  EndedJob EndOf(const Seen& seen, Seconds end) const;

  std::vector<Seen> last_;  // by job
  std::vector<Seen> now_;
  Seconds last_time_ = 0;
  std::int64_t number_ = 0;
};

}  // namespace allot
