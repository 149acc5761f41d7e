#include "sched/order_memory.h"

#include <algorithm>
#include <cstddef>

namespace allot {

void OrderMemory::Forget() {
  call_ = 0;
  known_.clear();
  last_.clear();
}

void OrderMemory::FindChanged(std::span<const Item> items) {
  changed_.clear();
  for (const Item& item : items) {
    const auto job = static_cast<std::size_t>(item.job);
    if (job >= known_.size()) known_.resize(job + 1);
    Known& known = known_[job];
    known.changed = known.call != call_ - 1 || known.key != item.key || known.rank != item.rank;
    known.call = call_;
    known.row = item.row;
    if (!known.changed) continue;
    known.key = item.key;
    known.rank = item.rank;
    changed_.push_back(item);
  }
}

void OrderMemory::Sort(std::span<const Item> items, std::vector<std::int32_t>* rows,
                       std::vector<double>* keys) {
  ++call_;
  FindChanged(items);
  std::sort(changed_.begin(), changed_.end(), [this](const Item& a, const Item& b) {
    return Before(a, known_[static_cast<std::size_t>(b.job)], b.job);
  });
  order_.resize(items.size());
  rows->resize(items.size());
  keys->resize(items.size());
  std::size_t place = 0;
  const auto put = [&](JobIndex job, std::int32_t row, double key) {
    order_[place] = job;
    (*rows)[place] = row;
    (*keys)[place] = key;
    ++place;
  };
  auto next = changed_.cbegin();
  for (const JobIndex job : last_) {
    const Known& kept = known_[static_cast<std::size_t>(job)];
    if (kept.call != call_ || kept.changed) continue;
    for (; next != changed_.cend() && Before(*next, kept, job); ++next) {
      put(next->job, next->row, next->key);
    }
    put(job, kept.row, kept.key);
  }
  for (; next != changed_.cend(); ++next) put(next->job, next->row, next->key);
  last_.swap(order_);
}

}  // namespace allot
