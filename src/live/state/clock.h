#pragma once
// The time of a live run in seconds since its origin. It never goes back: the wall clock is read
// once, when a daemon starts, and then only the monotonic clock counts. Used by LiveCluster; tests
// pass a source of their own.

#include <functional>

#include "core/types.h"

namespace allot {

class LiveClock {
 public:
  struct Source {
    std::function<double()> monotonic;  // seconds since any origin, never decreasing
    std::function<double()> wall;       // Unix time
  };
  static Source System();

  // Time 0 is `origin` (Unix time), or now if that is NaN. If the wall clock is behind `at_least`,
  // where an earlier daemon stopped, time continues from there.
  explicit LiveClock(double origin, Seconds at_least = 0, Source source = System());

  Seconds Now() const { return start_ + (source_.monotonic() - monotonic_start_); }
  double origin() const { return origin_; }
  // The machine's Unix time, for dates in texts; it may jump.
  double Wall() const { return source_.wall(); }

 private:
  Source source_;
  double origin_ = 0;
  Seconds start_ = 0;
  double monotonic_start_ = 0;
};

}  // namespace allot
