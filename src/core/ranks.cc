#include "core/ranks.h"

#include <algorithm>
#include <numeric>

#include "core/index.h"
#include "core/packed_sort.h"

namespace allot {
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
  constexpr std::ptrdiff_t kMovesPerWord = 3;  // beyond them sorting anew takes less time
  scratch_.reserve(values.size());
  bool sorted = words_.size() == values.size();
  if (sorted) {
    for (std::uint64_t& word : words_) {
      const std::size_t index = PackedIndex(word);
      word = PackKey(values[index], index);
    }
    sorted = SortNearlySorted(words_, kMovesPerWord * std::ssize(words_));
  }
  if (!sorted) {
    words_.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) words_[i] = PackKey(values[i], i);
    SortPacked(&words_, &scratch_);
  }
  places_.resize(values.size());
  for (std::size_t place = 0; place < words_.size(); ++place) {
    places_[PackedIndex(words_[place])] = static_cast<std::int32_t>(place);
  }
}

}  // namespace allot
