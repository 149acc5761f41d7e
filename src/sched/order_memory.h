#pragma once
// Sorts what was sorted a moment ago. Jobs keep most of their order from one decision to the next;
// starting from the last order, a decision costs O(rows + pairs that changed places), and where too
// many did it falls back to std::sort. The result does not depend on the start: the comparison
// must be a strict total order.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/types.h"

namespace allot {

// Item has a member `job`, different in every item.
template <typename Item>
class OrderMemory {
 public:
  void Forget() { last_.clear(); }

  template <typename Before>
  void Sort(std::vector<Item>* items, Before before) {
    if (!std::is_sorted(items->begin(), items->end(), before)) {
      Recall(items);
      if (!InsertionSort(items, before)) std::sort(items->begin(), items->end(), before);
    }
    last_.clear();
    for (const Item& item : *items) last_.push_back(item.job);
  }

 private:
  // Items of the last order first, in that order; then the new ones.
  void Recall(std::vector<Item>* items) {
    JobIndex most = -1;
    for (const Item& item : *items) most = std::max(most, item.job);
    if (at_.size() <= static_cast<std::size_t>(most)) {
      at_.resize(static_cast<std::size_t>(most) + 1, -1);
    }
    for (std::size_t i = 0; i < items->size(); ++i) {
      at_[static_cast<std::size_t>((*items)[i].job)] = static_cast<std::int32_t>(i);
    }
    recalled_.clear();
    for (const JobIndex job : last_) {
      if (static_cast<std::size_t>(job) >= at_.size()) continue;
      std::int32_t& at = at_[static_cast<std::size_t>(job)];
      if (at < 0) continue;
      recalled_.push_back((*items)[static_cast<std::size_t>(at)]);
      at = -1;
    }
    for (const Item& item : *items) {
      std::int32_t& at = at_[static_cast<std::size_t>(item.job)];
      if (at >= 0) recalled_.push_back(item);
      at = -1;
    }
    items->swap(recalled_);
  }

  // False, with the items in some order, when it would take more than a few shifts an item.
  template <typename Before>
  static bool InsertionSort(std::vector<Item>* items, Before before) {
    constexpr std::size_t kShiftsPerItem = 6;
    std::size_t budget = kShiftsPerItem * items->size();
    for (std::size_t i = 1; i < items->size(); ++i) {
      if (!before((*items)[i], (*items)[i - 1])) continue;
      // Far moves by binary search, so that only the shifts count.
      const auto begin = items->begin();
      const auto item = begin + static_cast<std::ptrdiff_t>(i);
      const auto to = std::upper_bound(begin, item, *item, before);
      const auto shifts = static_cast<std::size_t>(item - to);
      if (shifts > budget) return false;
      budget -= shifts;
      std::rotate(to, item, item + 1);
    }
    return true;
  }

  std::vector<JobIndex> last_;
  std::vector<std::int32_t> at_;  // by job: position, -1 between calls
  std::vector<Item> recalled_;
};

}  // namespace allot
