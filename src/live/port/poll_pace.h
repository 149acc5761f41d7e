#pragma once
// The pause of the daemon between two polls, which is proportional to the cost of a poll (ADR 59).
// Used by LiveCluster; events end the pause early (Runtime::Wait).

#include <algorithm>

#include "core/types.h"

namespace allot {

class PollPace {
 public:
  Seconds PauseAt(Seconds now) const {
    return std::min(kLongestPause,
                    now < busy_until_ ? kPausePerWorkWhileBusy * mean_ : kPausePerWork * cost_);
  }

  // Counts a poll that used so much CPU time; `event` is true if it found a change.
  void CountPoll(Seconds now, Seconds used, bool event) {
    cost_ = std::max(kLeastCost, std::min(kRise * cost_, used));
    mean_ += kWeight * (used - mean_);
    if (event) busy_until_ = now + kBusyFor;
  }

 private:
  // A poll of a large cluster costs milliseconds: while nothing happens, polls use 1 % of a core.
  static constexpr double kPausePerWork = 100;
  static constexpr Seconds kLongestPause = 2;
  // After a change they use up to 6 %: some runtimes do not announce that jobs arrive or end, and
  // GPUs would be idle until the next poll.
  static constexpr double kPausePerWorkWhileBusy = 16;
  static constexpr Seconds kBusyFor = 10;
  static constexpr Seconds kLeastCost = 1e-5;
  static constexpr double kRise = 1.1;     // limits the effect of one expensive poll
  static constexpr double kWeight = 0.25;  // of the last poll in the mean

  Seconds cost_ = 0;  // CPU time of a poll that finds no change
  Seconds mean_ = 0;  // mean CPU time of the last few polls
  Seconds busy_until_ = 0;
};

}  // namespace allot
