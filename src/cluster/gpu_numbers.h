#pragma once
// Numbers of GPUs where some of a node's are out of policies' sight. Policies count the GPUs of a
// node from 0, so those that are left close up.

#include <cstdint>

namespace allot {

// The bits of `mask` at the places of `left`'s bits, closed up.
constexpr std::uint64_t ClosedUp(std::uint64_t mask, std::uint64_t left) {
  std::uint64_t closed = 0;
  for (int place = 0; left != 0; left &= left - 1, ++place) {
    if ((mask & left & -left) != 0) closed |= std::uint64_t{1} << place;
  }
  return closed;
}

// The other way.
constexpr std::uint64_t OpenedUp(std::uint64_t mask, std::uint64_t left) {
  std::uint64_t opened = 0;
  for (; mask != 0 && left != 0; mask >>= 1U, left &= left - 1) {
    if ((mask & 1U) != 0) opened |= left & -left;
  }
  return opened;
}

}  // namespace allot
