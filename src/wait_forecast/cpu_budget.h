#pragma once
// Limits a thread to a fraction of a core: it works for a moment, then pauses in proportion. Used
// by LiveForecast.

#include "core/types.h"

namespace allot {

class CpuBudget {
 public:
  explicit CpuBudget(double fraction) : pause_per_work_(1 / fraction - 1) {}

  // `used` is the thread's CPU time so far. Returns the length of the pause that is due now, or 0.
  Seconds PauseAfter(Seconds used) {
    const Seconds worked = used - paused_at_;
    if (worked < kWork) return 0;
    paused_at_ = used;
    return pause_per_work_ * worked;
  }

 private:
  static constexpr Seconds kWork = 0.2;  // between pauses

  double pause_per_work_;
  Seconds paused_at_ = 0;
};

}  // namespace allot
