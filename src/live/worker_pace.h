#pragma once
// How often workers tell their progress, so that many of them together do not keep the daemon busy.
// Used by WorkerHub.

#include <cstddef>

#include "core/types.h"

namespace allot {

class WorkerPace {
 public:
  Seconds every() const { return every_; }

  // Between words of the daemon, by which workers know that it lives.
  Seconds speaks() const { return kWordsOfWorkers * every_; }
  // True when the next is due, `now` by a clock that does not go back.
  bool Speaks(Seconds now) {
    if (now < spoke_ + speaks()) return false;
    spoke_ = now;
    return true;
  }

  // True: all are to be told the new pace. It goes in powers of two of the shortest, so that this
  // is seldom.
  bool Set(std::size_t workers) {
    const Seconds before = every_;
    every_ = kOftenest;
    while (every_<kRarest&& static_cast<double>(workers)> kMostMessages * every_) every_ *= 2;
    return every_ != before;
  }

 private:
  static constexpr double kMostMessages = 400;  // a second, of all workers together
  static constexpr Seconds kOftenest = 0.5;
  static constexpr double kWordsOfWorkers = 4;
  static constexpr Seconds kRarest = 2;  // small beside the silence after which a worker is ended

  Seconds every_ = kOftenest;
  Seconds spoke_ = 0;
};

}  // namespace allot
