#pragma once
// How long the daemon rests between two looks at the cluster: in proportion to what a look costs
// (ADR 59). LiveCluster is the only caller; what happens wakes it before (Runtime::Wait).

#include <algorithm>

#include "core/types.h"

namespace allot {

class LookPace {
 public:
  Seconds Rest(Seconds now) const {
    return std::min(kLongestRest,
                    now < busy_until_ ? kRestWhileBusy * mean_ : kRestPerWork * cost_);
  }

  // A look took so much CPU time; `event`: it found something.
  void Looked(Seconds now, Seconds used, bool event) {
    cost_ = std::max(kLeastCost, std::min(kRise * cost_, used));
    mean_ += kNews * (used - mean_);
    if (event) busy_until_ = now + kBusyFor;
  }

 private:
  // Of a large cluster a look costs milliseconds: while nothing happens, looking has 1 % of a core.
  static constexpr double kRestPerWork = 100;
  static constexpr Seconds kLongestRest = 2;
  // After something happened it has up to 6 %: where jobs come and end all the time, of which some
  // runtimes say nothing before they are asked, GPUs would be idle until the next look.
  static constexpr double kRestWhileBusy = 16;
  static constexpr Seconds kBusyFor = 10;
  static constexpr Seconds kLeastCost = 1e-5;
  static constexpr double kRise = 1.1;   // a look that had much to do raises it little
  static constexpr double kNews = 0.25;  // that one look is, of the mean

  Seconds cost_ = 0;  // CPU time of one that finds nothing to do
  Seconds mean_ = 0;  // of the last few: where jobs come all the time, many find something
  Seconds busy_until_ = 0;
};

}  // namespace allot
