#include "stages/order_memory.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>

#include "cluster/running_rows.h"
#include "core/check.h"
#include "core/index.h"
#include "core/packed_sort.h"

namespace allot {
namespace {

constexpr std::int32_t kGone = -1;
constexpr std::int32_t kChanged = -2;  // less the position now

// Block by block, as most are equal: compares bytes, so that equal means the same.
constexpr std::size_t kBlock = 64;

template <typename T>
bool Same(const T* a, const T* b, std::size_t count) {
  return std::memcmp(a, b, count * sizeof(T)) == 0;
}

// The length of the equal run at the start.
std::size_t EqualRun(const JobIndex* a, const JobIndex* b, std::size_t most) {
  std::size_t i = 0;
  while (i + kBlock <= most && Same(a + i, b + i, kBlock)) i += kBlock;
  while (i < most && a[i] == b[i]) ++i;
  return i;
}

}  // namespace

void OrderMemory::Forget() { *this = OrderMemory(); }

void OrderMemory::Follow(const Observation& o, std::span<const std::int32_t> rows,
                         bool running_touches) {
  running_touches_ = running_touches;
  FindPieces(o, rows);
  FindTouched(o, rows);
  moved_ = !gone_.empty() || (!fresh_.empty() && At(fresh_.front()) < positions_before_);
  if (moved_ || !fresh_.empty()) MoveColumns();
  std::swap(known_, read_);
}

void OrderMemory::FindPieces(const Observation& o, std::span<const std::int32_t> rows) {
  if (rows.size() == o.job.size()) {  // all of them
    read_ = o.job;
  } else {
    read_.clear();
    for (const std::int32_t row : rows) read_.push_back(o.job[At(row)]);
  }
  gone_.clear();
  fresh_.clear();
  pieces_.clear();
  positions_before_ = known_.size();
  std::size_t before = 0;
  std::size_t now = 0;
  while (before < known_.size() || now < read_.size()) {
    const std::size_t run = EqualRun(known_.data() + before, read_.data() + now,
                                     std::min(known_.size() - before, read_.size() - now));
    if (run > 0) {
      pieces_.push_back({static_cast<std::int32_t>(before), static_cast<std::int32_t>(now),
                         static_cast<std::int32_t>(run)});
    }
    before += run;
    now += run;
    // Rows ascend by job; where they do not, a job may count as gone and come again.
    if (before < known_.size() && (now == read_.size() || known_[before] < read_[now])) {
      gone_.push_back(known_[before++]);
    } else if (now < read_.size()) {
      fresh_.push_back(static_cast<std::int32_t>(now++));
    }
  }
}

void OrderMemory::FindTouched(const Observation& o, std::span<const std::int32_t> rows) {
  if (events_.Follow(o.events) == EventCursor::Step::kMissed) {
    changed_positions_.resize(rows.size());
    std::iota(changed_positions_.begin(), changed_positions_.end(), 0);
    if (running_touches_) touched_ = changed_positions_;
  } else if (rows.size() == o.job.size()) {
    FindTouchedOfAll(o);
  } else {
    FindTouchedOfSome(o, rows);
  }
}

// Positions are rows.
void OrderMemory::FindTouchedOfAll(const Observation& o) {
  changed_positions_ = fresh_;
  for (const auto* rows : {&o.events.changed, &o.events.table_changed}) {
    if (rows->empty()) continue;
    merged_.clear();
    std::set_union(changed_positions_.begin(), changed_positions_.end(), rows->begin(), rows->end(),
                   std::back_inserter(merged_));
    changed_positions_.swap(merged_);
  }
  if (!running_touches_) return;
  touched_.clear();
  std::int32_t row = 0;
  const auto take = [this](std::int32_t running) {
    touched_.push_back(running);
    return true;
  };
  for (const std::int32_t changed : changed_positions_) {
    ForEachRunningRow(o.running, row, changed, take);
    touched_.push_back(changed);
    row = changed + 1;
  }
  ForEachRunningRow(o.running, row, o.rows(), take);
}

void OrderMemory::FindTouchedOfSome(const Observation& o, std::span<const std::int32_t> rows) {
  constexpr std::uint8_t kRuns = 1;
  constexpr std::uint8_t kChangedToo = 2;
  touch_.resize(o.job.size());
  for (std::size_t r = 0; r < o.job.size(); ++r) touch_[r] = o.running[r] >= 0 ? kRuns : 0;
  for (const std::int32_t row : o.events.changed) touch_[At(row)] = kChangedToo;
  for (const std::int32_t row : o.events.table_changed) touch_[At(row)] = kChangedToo;
  for (const std::int32_t position : fresh_) touch_[At(rows[At(position)])] = kChangedToo;
  touched_.clear();
  changed_positions_.clear();
  for (std::size_t p = 0; p < rows.size(); ++p) {
    const std::uint8_t touch = touch_[At(rows[p])];
    if (touch == 0) continue;
    touched_.push_back(static_cast<std::int32_t>(p));
    if (touch == kChangedToo) changed_positions_.push_back(touched_.back());
  }
}

// Keys and ranks to the positions of now.
void OrderMemory::MoveColumns() {
  const std::size_t count = read_.size();
  if (moved_) {
    moved_keys_.resize(count);
    moved_ranks_.resize(count);
    for (const Piece& piece : pieces_) {
      std::copy_n(key_.begin() + piece.before, piece.length, moved_keys_.begin() + piece.now);
      std::copy_n(rank_.begin() + piece.before, piece.length, moved_ranks_.begin() + piece.now);
    }
    std::swap(key_, moved_keys_);
    std::swap(rank_, moved_ranks_);
  } else {
    key_.resize(count);
    rank_.resize(count);
  }
  while (ascending_.size() < count) {
    ascending_.push_back(static_cast<std::int32_t>(ascending_.size()));
  }
}

void OrderMemory::Update(std::span<const std::int32_t> positions, std::span<const double> keys,
                         std::span<const std::int8_t> ranks) {
  if (positions.empty() && !moved_) return;
  const std::size_t count = key_.size();
  if (moved_) MapPositions();
  std::vector<std::int32_t>& position_now = moved_ ? position_now_ : ascending_;
  std::size_t to_drop = gone_.size();
  by_number_.clear();
  auto piece = pieces_.cbegin();
  auto fresh = fresh_.cbegin();
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const std::int32_t position = positions[i];
    const std::size_t p = At(position);
    ALLOT_CHECK_LT(p, count);
    const bool is_fresh = fresh != fresh_.cend() && *fresh == position;
    if (is_fresh) ++fresh;
    if (!is_fresh && key_[p] == keys[i] && rank_[p] == ranks[i]) continue;
    key_[p] = keys[i];
    rank_[p] = ranks[i];
    by_number_.push_back(position);
    if (is_fresh) continue;
    while (piece->now + piece->length <= position) ++piece;
    position_now[At(piece->before + position - piece->now)] = kChanged - position;
    ++to_drop;
  }
  const Gap gap = DropChanged(position_now, to_drop);
  if (!moved_) {
    for (const std::int32_t position : changed_) ascending_[At(position)] = position;
  }
  changed_.insert(changed_.end(), fresh_.begin(), fresh_.end());
  if (!changed_.empty()) SortChanged();
  MergeChanged(gap);
}

// Where positions before are now.
void OrderMemory::MapPositions() {
  position_now_.resize(positions_before_);
  auto next = position_now_.begin();
  for (const Piece& piece : pieces_) {
    const auto begin = position_now_.begin() + piece.before;
    std::fill(next, begin, kGone);
    next = std::copy_n(ascending_.begin() + piece.now, piece.length, begin);
  }
  std::fill(next, position_now_.end(), kGone);
}

// Out of the order: who is gone, and into changed_ who has another key; together `to_drop`. What
// comes before the last of them moves up, what comes after it stays where it is.
OrderMemory::Gap OrderMemory::DropChanged(const std::vector<std::int32_t>& position_now,
                                          std::size_t to_drop) {
  changed_.resize(to_drop + 1);
  std::size_t dropped = 0;
  Gap gap;
  for (; to_drop > 0; ++gap.end) {
    ALLOT_CHECK_LT(gap.end, order_.size());
    // Without branches: who has changed is anybody's guess.
    const std::int32_t now = position_now[At(order_[gap.end])];
    order_keys_[gap.begin] = order_keys_[gap.end];
    order_[gap.begin] = now;
    gap.begin += now >= 0 ? 1 : 0;
    changed_[dropped] = kChanged - now;
    dropped += now <= kChanged ? 1 : 0;
    to_drop -= now < 0 ? 1 : 0;
  }
  changed_.resize(dropped);
  if (moved_) {
    for (std::size_t i = gap.end; i < order_.size(); ++i) {
      order_[i] = position_now[At(order_[i])];
    }
  }
  return gap;
}

inline bool OrderMemory::Before::operator()(std::int32_t a, std::int32_t b) const {
  const std::size_t x = At(a);
  const std::size_t y = At(b);
  if (rank[x] != rank[y]) return rank[x] < rank[y];
  if (key[x] != key[y]) return key[x] < key[y];
  return job[x] < job[y];
}

// Those that ran since the last time are often in order, and few are new.
void OrderMemory::SortChanged() {
  constexpr std::ptrdiff_t kFew = 8;
  const Before less = Order();
  auto next = std::is_sorted_until(changed_.begin(), changed_.end(), less);
  if (changed_.end() - next > kFew) {
    SortManyChanged();
    return;
  }
  for (; next != changed_.end(); ++next) {
    std::rotate(std::upper_bound(changed_.begin(), next, *next, less), next, next + 1);
  }
}

// By the keys in single precision, which sort fast; then those apart that are equal so. As they
// come by number, and rows mostly ascend by job, those of equal keys mostly are in order then.
void OrderMemory::SortManyChanged() {
  const Before less = Order();
  const std::int8_t rank = rank_[At(by_number_.front())];
  words_.resize(by_number_.size());
  for (std::size_t i = 0; i < by_number_.size(); ++i) {
    const std::size_t position = At(by_number_[i]);
    if (rank_[position] != rank) {
      std::sort(changed_.begin(), changed_.end(), less);
      return;
    }
    words_[i] = PackKey(static_cast<float>(key_[position]), position);
  }
  SortPacked(&words_, &scratch_words_);
  for (std::size_t i = 0; i < changed_.size(); ++i) {
    changed_[i] = static_cast<std::int32_t>(PackedIndex(words_[i]));
  }
  for (std::size_t begin = 0; begin < changed_.size();) {
    std::size_t end = begin + 1;
    while (end < changed_.size() && words_[end] >> 32 == words_[begin] >> 32) ++end;
    if (end - begin > 1) {
      const auto first = changed_.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto last = changed_.begin() + static_cast<std::ptrdiff_t>(end);
      if (!std::is_sorted(first, last, less)) std::sort(first, last, less);
    }
    begin = end;
  }
}

// Into the gap, from the last to the first. What comes before the first or after the last of the
// changed stays where it is but for the difference in number.
void OrderMemory::MergeChanged(Gap gap) {
  if (!changed_.empty()) {
    const auto behind_gap = order_.begin() + static_cast<std::ptrdiff_t>(gap.end);
    const auto after_all = std::partition_point(
        behind_gap, order_.end(),
        [last = changed_.back(), less = Order()](std::int32_t p) { return !less(last, p); });
    MoveUp(&gap, static_cast<std::size_t>(after_all - behind_gap));
  }
  ResizeGap(&gap, changed_.size());
  std::size_t kept = gap.begin;
  std::size_t to = gap.end;
  for (std::size_t c = changed_.size(); c-- > 0;) {
    const std::int32_t position = changed_[c];
    const double key = key_[At(position)];
    const std::int8_t rank = rank_[At(position)];
    // As Before of position and order_[i], whose key is at hand.
    const auto precedes = [&](std::size_t i) {
      const std::size_t other = At(order_[i]);
      if (rank != rank_[other]) return rank < rank_[other];
      if (key != order_keys_[i]) return key < order_keys_[i];
      return known_[At(position)] < known_[other];
    };
    for (; kept > 0 && precedes(kept - 1); --kept) {
      --to;
      order_[to] = order_[kept - 1];
      order_keys_[to] = order_keys_[kept - 1];
    }
    --to;
    order_[to] = position;
    order_keys_[to] = key;
  }
}

// The first `count` from behind the gap to before it.
void OrderMemory::MoveUp(Gap* gap, std::size_t count) {
  if (gap->begin != gap->end) {
    const auto move = [&](auto* values) {
      const auto from = values->begin() + static_cast<std::ptrdiff_t>(gap->end);
      std::copy_n(from, count, values->begin() + static_cast<std::ptrdiff_t>(gap->begin));
    };
    move(&order_);
    move(&order_keys_);
  }
  gap->begin += count;
  gap->end += count;
}

void OrderMemory::ResizeGap(Gap* gap, std::size_t size) {
  const auto resize = [&](auto* values) {
    const auto begin = values->begin() + static_cast<std::ptrdiff_t>(gap->begin);
    const std::size_t present = gap->end - gap->begin;
    if (size < present) {
      values->erase(begin, begin + static_cast<std::ptrdiff_t>(present - size));
    } else {
      values->insert(begin, size - present, {});
    }
  };
  resize(&order_);
  resize(&order_keys_);
  gap->end = gap->begin + size;
}

}  // namespace allot
