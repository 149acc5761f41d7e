#include "sched/order_memory.h"

#include <algorithm>

namespace allot {

void OrderMemory::Forget() {
  call_ = 0;
  known_.clear();
  last_.clear();
}

void OrderMemory::Sort(std::span<const std::int32_t> rows, std::span<const JobIndex> job_of_row,
                       std::span<const double> keys, std::span<const std::int8_t> ranks,
                       std::vector<std::int32_t>* sorted_rows, std::vector<double>* sorted_keys) {
  ++call_;
  fresh_.clear();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const JobIndex job = job_of_row[static_cast<std::size_t>(rows[i])];
    const auto j = static_cast<std::size_t>(job);
    if (j >= known_.size()) known_.resize(j + 1);
    Known& known = known_[j];
    if (known.call != call_ - 1 || call_ == 1) fresh_.push_back({keys[i], job, rows[i], ranks[i]});
    known.changed = known.key != keys[i] || known.rank != ranks[i];
    known.key = keys[i];
    known.rank = ranks[i];
    known.row = rows[i];
    known.call = call_;
  }
  Split();
  SortChanged();

  last_.resize(rows.size());
  sorted_rows->resize(rows.size());
  sorted_keys->resize(rows.size());
  std::size_t place = 0;
  const auto put = [&](const Item& item) {
    last_[place] = item.job;
    (*sorted_rows)[place] = item.row;
    (*sorted_keys)[place] = item.key;
    ++place;
  };
  auto next = changed_.cbegin();
  for (const Item& kept : kept_) {
    for (; next != changed_.cend() && *next < kept; ++next) put(*next);
    put(kept);
  }
  for (; next != changed_.cend(); ++next) put(*next);
}

void OrderMemory::Split() {
  kept_.clear();
  changed_.clear();
  for (const JobIndex job : last_) {
    const Known& known = known_[static_cast<std::size_t>(job)];
    if (known.call != call_) continue;
    (known.changed ? changed_ : kept_).push_back({known.key, job, known.row, known.rank});
  }
  changed_.insert(changed_.end(), fresh_.begin(), fresh_.end());
}

// Those that ran since the last time are often in order, and few are new.
void OrderMemory::SortChanged() {
  constexpr std::ptrdiff_t kFew = 8;
  auto next = std::is_sorted_until(changed_.begin(), changed_.end());
  if (changed_.end() - next > kFew) {
    std::sort(changed_.begin(), changed_.end());
    return;
  }
  for (; next != changed_.end(); ++next) {
    std::rotate(std::upper_bound(changed_.begin(), next, *next), next, next + 1);
  }
}

}  // namespace allot
