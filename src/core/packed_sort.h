#pragma once
// Sorts many rows by a float, fast: key and row share one 64-bit word, so that a comparison is one
// instruction and equal keys are in the order of rows. For the features that are ranks and for the
// hull fill.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace allot {

// Words ascend as (key, index) does; -0 equals 0, NaN is beyond infinity. `index` < 2^32.
inline std::uint64_t PackKey(float key, std::size_t index) {
  const auto bits = std::bit_cast<std::uint32_t>(key + 0.0F);  // -0 becomes 0
  const std::uint32_t ordered = bits ^ ((bits >> 31) != 0 ? 0xFFFFFFFFU : 0x80000000U);
  return std::uint64_t{ordered} << 32 | index;
}
inline std::size_t PackedIndex(std::uint64_t word) { return word & 0xFFFFFFFFU; }
inline float PackedKey(std::uint64_t word) {
  const auto ordered = static_cast<std::uint32_t>(word >> 32);
  return std::bit_cast<float>(ordered ^ ((ordered >> 31) != 0 ? 0x80000000U : 0xFFFFFFFFU));
}

// Ascending. The indices of `words` must ascend on entry. Linear: keys that spread over their range
// by buckets, others by their digits (a few hundred of them by comparison). `scratch` is reused
// without allocation.
void SortPacked(std::vector<std::uint64_t>* words, std::vector<std::uint64_t>* scratch);

// Ascending, each word moved back to its place: one pass where they are nearly in order. False, and
// in some order, once that takes more than `most_moves`.
bool SortNearlySorted(std::span<std::uint64_t> words, std::ptrdiff_t most_moves);

}  // namespace allot
