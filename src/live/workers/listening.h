#pragma once
// Measures the silence of workers. A poll of a large cluster takes seconds, in which the hub does
// not read; that time does not count as silence. Used by WorkerHub. Times are monotonic.

#include <algorithm>
#include <utility>

#include "core/types.h"

namespace allot {

class Listening {
 public:
  explicit Listening(Seconds now) : until_(now), seen_(now) {}

  // The hub begins to read. Returns how long it did not.
  Seconds BeginReading(Seconds now) { return now - std::exchange(seen_, now); }
  // The hub has read for a while. With `all` no earlier input is left; otherwise only the time
  // spent with reading counts, so that a worker that floods the hub does not hide silent ones.
  void EndReading(Seconds now, bool all) {
    until_ = all ? now : until_ + (now - seen_);
    seen_ = now;
  }

  // The silence of a worker whose last message came at `heard`.
  Seconds SilenceSince(Seconds heard) const { return std::max(0.0, until_ - heard); }

 private:
  Seconds until_;  // all input up to here was read
  Seconds seen_;   // when the hub last began or ended to read
};

}  // namespace allot
