#pragma once
// How often workers tell their progress, so that many of them together do not keep the daemon busy.
// Used by WorkerHub.

#include <algorithm>
#include <cstddef>

#include "core/types.h"

namespace allot {

class WorkerPace {
 public:
  Seconds every() const { return every_; }

  // Between words of the daemon, by which workers know that it lives. While it looks at the cluster
  // it says nothing, so these are no more often than its looks are long.
  Seconds speaks() const { return std::max(kWordsOfWorkers * every_, slow_); }
  // True when the next is due, `now` by a clock that does not go back.
  bool Speaks(Seconds now) {
    if (now < spoke_ + speaks()) return false;
    spoke_ = now;
    return true;
  }

  // Both: true when all are to be told the new pace. It goes in powers of two of the shortest, so
  // that this is seldom.
  bool Set(std::size_t workers) {
    const Seconds before = every_;
    every_ = kOftenest;
    while (every_<kRarest&& static_cast<double>(workers)> kMostMessages * every_) every_ *= 2;
    return every_ != before;
  }
  // The daemon says that it was elsewhere for so long.
  bool Away(Seconds away) {
    const Seconds before = speaks();
    longest_ = std::max(away, kForgets * longest_);
    while (slow_ < std::min(longest_, kSlowest)) slow_ *= 2;
    while (slow_ > kOftenest && 4 * longest_ < slow_) slow_ /= 2;  // not to and fro
    return speaks() != before;
  }

 private:
  static constexpr double kMostMessages = 400;  // a second, of all workers together
  static constexpr Seconds kOftenest = 0.5;
  static constexpr double kWordsOfWorkers = 4;
  static constexpr Seconds kRarest = 2;  // small beside the silence after which a worker is ended

  static constexpr Seconds kSlowest = 16;  // a daemon that hangs is left after three times as long
  static constexpr double kForgets = 0.9;

  Seconds every_ = kOftenest;
  Seconds slow_ = kOftenest;
  Seconds longest_ = 0;  // that it was away, of late
  Seconds spoke_ = 0;
};

}  // namespace allot
