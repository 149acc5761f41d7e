#pragma once
// Detects a job that makes no progress although all of its workers are alive: they may wait for
// each other, or for a file system, for ever. A job has stalled if it reported no later step, no
// more work and no checkpoint for `floor`, and for ten times its longest earlier pause (an
// evaluation, say). Part of WorkerGroup, which calls it at every poll.

#include <algorithm>
#include <cstdint>

#include "core/types.h"
#include "live/runtimes/runtime.h"

namespace allot {

class StallWatch {
 public:
  // Returns whether the job has stalled. `trains` is true while all workers are in the latest
  // epoch; a `floor` of 0 switches the check off.
  bool Check(const JobProgress& progress, bool trains, Seconds floor, Seconds now) {
    const bool goes_on =
        progress.step != step_ || progress.work != work_ || progress.saved_work != saved_work_;
    if (trains && goes_on && trained_) longest_ = std::max(longest_, now - since_);
    if (!trains || goes_on || !trained_) since_ = now;
    trained_ = trains;
    step_ = progress.step;
    work_ = progress.work;
    saved_work_ = progress.saved_work;
    still_ = now - since_;
    return trains && floor > 0 && still_ > std::max(floor, kPauses * longest_);
  }
  Seconds still() const { return still_; }  // time without progress at the last check

 private:
  static constexpr double kPauses = 10;

  bool trained_ = false;
  std::int64_t step_ = 0;
  double work_ = 0;
  double saved_work_ = 0;
  Seconds since_ = 0;
  Seconds still_ = 0;
  Seconds longest_ = 0;
};

}  // namespace allot
