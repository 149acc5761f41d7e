#include "cluster/allocation.h"

#include <algorithm>

namespace allot {

void Allocation::Clear() {
  entries_.clear();
  shares_.clear();
  has_partners_ = false;
  requested_batches_ = false;
}

void Allocation::Pair(std::size_t entry, std::int32_t configuration, JobIndex other,
                      std::int32_t other_configuration) {
  entries_[entry].configuration = configuration;
  entries_[entry].partner = other;
  const Entry first = entries_[entry];
  const auto held = shares(first);
  const std::vector<NodeShare> same(held.begin(), held.end());  // Add moves what it copies from
  Add(other, other_configuration, same, false, first.job);
  entries_.back().share = first.share;
}

bool operator==(const Allocation& a, const Allocation& b) {
  // Entries lie in the order of their shares, so equal counts mean equal offsets.
  return a.shares_ == b.shares_ && a.requested_batches_ == b.requested_batches_ &&
         std::equal(a.entries_.begin(), a.entries_.end(), b.entries_.begin(), b.entries_.end(),
                    [](const Allocation::Entry& x, const Allocation::Entry& y) {
                      return x.job == y.job && x.configuration == y.configuration &&
                             x.share_count == y.share_count && x.relaunch == y.relaunch &&
                             x.partner == y.partner;
                    });
}

}  // namespace allot
