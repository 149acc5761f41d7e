#pragma once
// Sorting many rows by a float, fast: key and row in one 64-bit word, so that a comparison is one
// instruction and equal keys come by row. For the features that are ranks and for the hull fill.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace allot {

// Words ascend as (key, index) does; -0 equals 0, NaN is beyond infinity. `index` < 2^32.
inline std::uint64_t PackKey(float key, std::size_t index) {
  const auto bits = std::bit_cast<std::uint32_t>(key + 0.0F);  // -0 becomes 0
  const std::uint32_t ordered = bits ^ ((bits >> 31) != 0 ? 0xFFFFFFFFU : 0x80000000U);
  return std::uint64_t{ordered} << 32 | index;
}
inline std::size_t PackedIndex(std::uint64_t word) { return word & 0xFFFFFFFFU; }

// Ascending. The indices of `words` must ascend on entry: many words are sorted by key alone,
// stably, in three passes of 11 bits. `scratch` is reused without allocation.
inline void SortPacked(std::vector<std::uint64_t>* words, std::vector<std::uint64_t>* scratch) {
  constexpr std::size_t kFew = 500;
  if (words->size() < kFew) {
    std::sort(words->begin(), words->end());
    return;
  }
  constexpr std::size_t kBuckets = 1 << 11;
  std::array<std::array<std::uint32_t, kBuckets>, 3> first{};
  const auto bucket = [](std::uint64_t word, std::size_t pass) {
    return (word >> (32 + 11 * pass)) & (kBuckets - 1);
  };
  for (const std::uint64_t word : *words) {
    for (std::size_t pass = 0; pass < 3; ++pass) ++first[pass][bucket(word, pass)];
  }
  scratch->resize(words->size());
  for (std::size_t pass = 0; pass < 3; ++pass) {
    std::uint32_t sum = 0;
    for (std::uint32_t& count : first[pass]) {
      const std::uint32_t here = count;
      count = sum;
      sum += here;
    }
    for (const std::uint64_t word : *words) (*scratch)[first[pass][bucket(word, pass)]++] = word;
    words->swap(*scratch);
  }
}

}  // namespace allot
