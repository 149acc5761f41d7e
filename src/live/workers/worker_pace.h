#pragma once
// The interval at which workers report progress, so that many workers do not keep the daemon busy,
// and the interval at which the daemon sends to them. Used by WorkerHub.

#include <algorithm>
#include <cstddef>

#include "core/types.h"

namespace allot {

class WorkerPace {
 public:
  Seconds every() const { return every_; }

  // The longest pause between messages of the daemon, by which workers know that it lives. The
  // daemon sends nothing during a poll, so this is at least the duration of a poll.
  Seconds speaks() const { return std::max(kReportsPerMessage * every_, slow_); }
  // Returns whether the next message is due, and counts it as sent. `now` is monotonic.
  bool TakeDue(Seconds now) {
    if (now < spoke_ + speaks()) return false;
    spoke_ = now;
    return true;
  }

  // SetWorkers and AddPause return true if the new pace must be announced to all workers. Paces are
  // powers of two of the shortest, so that this is rare.
  bool SetWorkers(std::size_t workers) {
    const Seconds before = every_;
    every_ = kOftenest;
    while (every_<kRarest&& static_cast<double>(workers)> kMostMessages * every_) every_ *= 2;
    return every_ != before;
  }
  // The daemon did not read for so long.
  bool AddPause(Seconds pause) {
    const Seconds before = speaks();
    longest_ = std::max(pause, kForgets * longest_);
    while (slow_ < std::min(longest_, kSlowest)) slow_ *= 2;
    while (slow_ > kOftenest && 4 * longest_ < slow_) slow_ /= 2;  // hysteresis
    return speaks() != before;
  }

 private:
  static constexpr double kMostMessages = 400;  // per second from all workers together
  static constexpr Seconds kOftenest = 0.5;
  static constexpr double kReportsPerMessage = 4;  // of a worker per message of the daemon
  static constexpr Seconds kRarest =
      2;  // much less than the silence after which a worker is killed

  static constexpr Seconds kSlowest = 16;  // workers leave a daemon after three times that silence
  static constexpr double kForgets = 0.9;

  Seconds every_ = kOftenest;
  Seconds slow_ = kOftenest;
  Seconds longest_ = 0;  // longest recent pause
  Seconds spoke_ = 0;    // last message
};

}  // namespace allot
