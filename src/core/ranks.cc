#include "core/ranks.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>

#include "core/index.h"
#include "core/packed_sort.h"

namespace allot {
namespace {

constexpr std::size_t kLanes = 8;
constexpr std::size_t kFew = 256;  // beyond it sorting takes less time

using Words [[gnu::vector_size(kLanes * sizeof(std::int32_t))]] = std::int32_t;

[[gnu::always_inline]] inline void Load(const std::int32_t* from, Words* words) {
  std::memcpy(words, from, sizeof(Words));
}

[[gnu::always_inline]] inline std::int32_t Sum(const Words& lanes) {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < kLanes; ++i) sum += lanes[i];
  return sum;
}

// `ordered` is padded with the largest number to whole kLanes.
[[gnu::always_inline]] inline void PlaceRanks(const std::int32_t* ordered, std::size_t count,
                                              std::int32_t* places) {
  const std::size_t end = (count + kLanes - 1) / kLanes * kLanes;
  constexpr Words kLane = {0, 1, 2, 3, 4, 5, 6, 7};
  Words block;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t own = i / kLanes * kLanes;
    const Words value = Words{} + ordered[i];
    Words before{};  // less one for each: what a comparison gives
    for (std::size_t b = 0; b < own; b += kLanes) {
      Load(ordered + b, &block);
      before += block <= value;
    }
    Load(ordered + own, &block);
    before += (block < value) | ((block == value) & (kLane < static_cast<std::int32_t>(i - own)));
    for (std::size_t b = own + kLanes; b < end; b += kLanes) {
      Load(ordered + b, &block);
      before += block < value;
    }
    places[i] = -Sum(before);
  }
}

void RunPortably(const std::int32_t* ordered, std::size_t count, std::int32_t* places) {
  PlaceRanks(ordered, count, places);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void PlaceRanksAvx2(const std::int32_t* ordered, std::size_t count,
                                            std::int32_t* places) {
  PlaceRanks(ordered, count, places);
}
#endif

void Count(const std::int32_t* ordered, std::size_t count, std::int32_t* places) {
#if defined(__x86_64__)
  static const auto run = __builtin_cpu_supports("avx2") ? PlaceRanksAvx2 : RunPortably;
#else
  constexpr auto run = RunPortably;
#endif
  run(ordered, count, places);
}

}  // namespace

std::span<const std::int32_t> Ranks::Of(std::span<const float> values,
                                        std::span<const std::int32_t> ids) {
  if (std::is_sorted(ids.begin(), ids.end())) {
    Rank(values);
    return places_;
  }
  by_id_.resize(ids.size());
  std::iota(by_id_.begin(), by_id_.end(), 0);
  std::sort(by_id_.begin(), by_id_.end(),
            [&](std::int32_t a, std::int32_t b) { return ids[At(a)] < ids[At(b)]; });
  values_by_id_.resize(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) values_by_id_[i] = values[At(by_id_[i])];
  Rank(values_by_id_);
  places_by_id_.swap(places_);
  places_.resize(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) places_[At(by_id_[i])] = places_by_id_[i];
  return places_;
}

void Ranks::Rank(std::span<const float> values) {
  places_.resize(values.size());
  if (values.size() <= kFew) {
    ordered_.assign((values.size() + kLanes - 1) / kLanes * kLanes,
                    std::numeric_limits<std::int32_t>::max());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto bits = std::bit_cast<std::int32_t>(values[i] + 0.0F);  // -0 becomes 0
      ordered_[i] = bits ^ ((bits >> 31) & std::numeric_limits<std::int32_t>::max());
    }
    Count(ordered_.data(), values.size(), places_.data());
    return;
  }
  words_.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) words_[i] = PackKey(values[i], i);
  SortPacked(&words_, &scratch_);
  for (std::size_t place = 0; place < words_.size(); ++place) {
    places_[PackedIndex(words_[place])] = static_cast<std::int32_t>(place);
  }
}

}  // namespace allot
