#include "core/packed_sort.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace allot {
namespace {

using PackedWords = std::vector<std::uint64_t>;

constexpr std::ptrdiff_t kAnyMoves = std::numeric_limits<std::ptrdiff_t>::max();

// Into buckets of equal width, at most about one a word, each of which is then sorted. False, and
// nothing done, where the keys crowd in a few of them or are not finite.
bool SortByBuckets(PackedWords* words, PackedWords* scratch) {
  constexpr std::size_t kMostBuckets = 1 << 12;
  constexpr std::uint32_t kCrowd = 24;
  const auto [least, most] = std::ranges::minmax(*words);
  const float low = PackedKey(least);
  const std::size_t buckets = std::min(kMostBuckets, std::bit_ceil(words->size()));
  const float scale = static_cast<float>(buckets - 1) / (PackedKey(most) - low);
  if (!std::isnormal(scale)) return false;
  const auto bucket = [&](std::uint64_t word) {
    return static_cast<std::size_t>(static_cast<std::int32_t>((PackedKey(word) - low) * scale));
  };
  std::array<std::uint32_t, kMostBuckets + 1> begin;
  std::fill_n(begin.begin(), buckets + 1, 0);
  for (const std::uint64_t word : *words) ++begin[bucket(word)];
  if (*std::max_element(begin.begin(), begin.begin() + buckets) > kCrowd) return false;
  std::uint32_t sum = 0;
  for (std::size_t b = 0; b <= buckets; ++b) begin[b] = sum += begin[b];
  scratch->resize(words->size());
  for (auto word = words->rbegin(); word != words->rend(); ++word) {
    (*scratch)[--begin[bucket(*word)]] = *word;
  }
  words->swap(*scratch);
  // No word is far from its place.
  return SortNearlySorted(*words, kAnyMoves);
}

// By key alone, stably, in three passes of 11 bits.
void SortByDigits(PackedWords* words, PackedWords* scratch) {
  constexpr std::size_t kDigits = 1 << 11;
  std::array<std::array<std::uint32_t, kDigits>, 3> first{};
  const auto digit = [](std::uint64_t word, std::size_t pass) {
    return (word >> (32 + 11 * pass)) & (kDigits - 1);
  };
  for (const std::uint64_t word : *words) {
    for (std::size_t pass = 0; pass < 3; ++pass) ++first[pass][digit(word, pass)];
  }
  scratch->resize(words->size());
  for (std::size_t pass = 0; pass < 3; ++pass) {
    std::uint32_t sum = 0;
    for (std::uint32_t& count : first[pass]) {
      const std::uint32_t here = count;
      count = sum;
      sum += here;
    }
    for (const std::uint64_t word : *words) (*scratch)[first[pass][digit(word, pass)]++] = word;
    words->swap(*scratch);
  }
}

}  // namespace

bool SortNearlySorted(std::span<std::uint64_t> words, std::ptrdiff_t most_moves) {
  std::uint64_t* const begin = words.data();
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::uint64_t word = begin[i];
    std::uint64_t* hole = begin + i;
    if (hole[-1] < word) continue;
    for (; hole != begin && hole[-1] > word; --hole) *hole = hole[-1];
    *hole = word;
    most_moves -= begin + i - hole;
    if (most_moves < 0) return false;
  }
  return true;
}

void SortPacked(PackedWords* words, PackedWords* scratch) {
  constexpr std::size_t kFew = 32;
  constexpr std::size_t kMany = 500;
  if (words->size() < kFew) {
    SortNearlySorted(*words, kAnyMoves);
  } else if (!SortByBuckets(words, scratch)) {
    if (words->size() >= kMany) {
      SortByDigits(words, scratch);
    } else {
      std::sort(words->begin(), words->end());
    }
  }
}

}  // namespace allot
