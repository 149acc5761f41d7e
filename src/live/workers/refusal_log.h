#pragma once
// What is said of connections that a hub refuses: strangers could fill the disk, so of theirs one a
// second. Used by WorkerHub.

#include <spdlog/spdlog.h>

#include <cstddef>
#include <string>

#include "core/types.h"

namespace allot {

class RefusalLog {
 public:
  // `now` by a clock that does not go back.
  void Tell(bool stranger, const std::string& why, Seconds now) {
    ++refused_;
    if (stranger && now - told_ <= kBetweenStrangers) return;
    spdlog::warn("a worker's connection is refused: {} (refused so far: {})", why, refused_);
    told_ = now;
  }

 private:
  static constexpr Seconds kBetweenStrangers = 1;

  std::size_t refused_ = 0;
  Seconds told_ = -kNever;
};

}  // namespace allot
