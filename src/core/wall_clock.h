#pragma once
// Unix time, for what other programs compare with their own clocks. Nothing is decided by it.

#include <chrono>

namespace allot {

inline double WallSeconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace allot
