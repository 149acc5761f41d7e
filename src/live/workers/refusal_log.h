#pragma once
// Logs the connections that a hub refuses. Of strangers', which could otherwise fill the disk, it
// logs at most one per second. Used by WorkerHub.

#include <spdlog/spdlog.h>

#include <cstddef>
#include <string>

#include "core/types.h"

namespace allot {

class RefusalLog {
 public:
  // `now` is monotonic.
  void Report(bool stranger, const std::string& why, Seconds now) {
    ++refused_;
    if (stranger && now - reported_ <= kBetweenStrangers) return;
    spdlog::warn("refused a worker's connection: {} (refused so far: {})", why, refused_);
    reported_ = now;
  }

 private:
  static constexpr Seconds kBetweenStrangers = 1;

  std::size_t refused_ = 0;
  Seconds reported_ = -kNever;
};

}  // namespace allot
