#include "live/state/clock.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace allot {

LiveClock::Source LiveClock::System() {
  using std::chrono::duration;
  return {[] {
            const auto now = std::chrono::steady_clock::now().time_since_epoch();
            return duration<double>(now).count();
          },
          [] {
            const auto now = std::chrono::system_clock::now().time_since_epoch();
            return duration<double>(now).count();
          }};
}

LiveClock::LiveClock(double origin, Seconds at_least, Source source)
    : source_(std::move(source)), monotonic_start_(source_.monotonic()) {
  const double wall = source_.wall();
  origin_ = std::isnan(origin) ? wall : origin;
  start_ = std::max(at_least, wall - origin_);
}

}  // namespace allot
