#pragma once
// Seconds by a clock that does not go back, for what is measured or waited for in this process.

#include <chrono>

namespace allot {

inline double MonotonicSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace allot
