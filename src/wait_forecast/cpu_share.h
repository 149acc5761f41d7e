#pragma once
// Keeps a thread to a share of a core: it works for a moment, then rests in proportion. LiveOutlook
// is the only caller.

#include "core/types.h"

namespace allot {

class CpuShare {
 public:
  explicit CpuShare(double share) : rest_per_work_(1 / share - 1) {}

  // `used`: CPU time of the thread until now. How long it rests now; 0: it works on.
  Seconds RestAt(Seconds used) {
    const Seconds worked = used - rested_at_;
    if (worked < kWork) return 0;
    rested_at_ = used;
    return rest_per_work_ * worked;
  }

 private:
  static constexpr Seconds kWork = 0.2;  // what takes less is done at once

  double rest_per_work_;
  Seconds rested_at_ = 0;
};

}  // namespace allot
