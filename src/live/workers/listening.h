#pragma once
// Up to when a hub knows what was said to it. A look at a large cluster takes seconds, in which
// nobody reads: what waits in the sockets meanwhile is no silence. Used by WorkerHub. Times are of
// a clock that does not go back.

#include <algorithm>
#include <utility>

#include "core/types.h"

namespace allot {

class Listening {
 public:
  explicit Listening(Seconds now) : until_(now), seen_(now) {}

  // The hub begins to read. The answer: how long it was elsewhere.
  Seconds Begin(Seconds now) { return now - std::exchange(seen_, now); }
  // It has read for a while. `all`: nothing that was said before is left. Somebody who says more
  // than can be read stops no clock: then the time that was spent with reading counts.
  void Heard(Seconds now, bool all) {
    until_ = all ? now : until_ + (now - seen_);
    seen_ = now;
  }

  // Of somebody who was heard of last at `heard`.
  Seconds SilenceSince(Seconds heard) const { return std::max(0.0, until_ - heard); }

 private:
  Seconds until_;
  Seconds seen_;
};

}  // namespace allot
