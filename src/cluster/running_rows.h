#pragma once
// Walks over the rows of an observation that run. In a long queue nearly all wait: these are passed
// sixteen at a time.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace allot {

// Calls visit(row) for each row in [begin, end) whose `running` (by row, -1: waits) is not
// negative, ascending, until one returns false.
template <typename Visit>
void ForEachRunningRow(const std::vector<std::int32_t>& running, std::int32_t begin,
                       std::int32_t end, const Visit& visit) {
  constexpr std::int32_t kBlock = 16;
  const std::int32_t* const at = running.data();
  std::int32_t row = begin;
  while (row < end) {
    const bool whole = end - row >= kBlock;
    if (whole) {
      std::int32_t all = -1;  // negative as long as all are
      for (std::int32_t i = 0; i < kBlock; ++i) all &= at[row + i];
      if (all < 0) {
        row += kBlock;
        continue;
      }
    }
    for (const std::int32_t stop = whole ? row + kBlock : end; row < stop; ++row) {
      if (at[row] >= 0 && !visit(row)) return;
    }
  }
}

}  // namespace allot
