#pragma once
// The time of a live run: seconds since its origin. It never goes back, whatever the wall clock
// does: that one is read once, at the start of a daemon; then only the monotonic clock counts. Used
// by LiveCluster. Tests give a source of their own.

#include <functional>

#include "core/types.h"

namespace allot {

class LiveClock {
 public:
  struct Source {
    std::function<double()> monotonic;  // seconds, of any origin, never decreasing
    std::function<double()> wall;       // Unix time
  };
  static Source System();

  // Time 0 is `origin` (Unix time); NaN: now. Goes on at `at_least`, where an earlier daemon
  // stopped, when the wall clock says less.
  explicit LiveClock(double origin, Seconds at_least = 0, Source source = System());

  Seconds Now() const { return start_ + (source_.monotonic() - monotonic_start_); }
  double origin() const { return origin_; }
  // Unix time as the machine has it now, for what is said in dates; it may jump.
  double Wall() const { return source_.wall(); }

 private:
  Source source_;
  double origin_ = 0;
  Seconds start_ = 0;
  double monotonic_start_ = 0;
};

}  // namespace allot
