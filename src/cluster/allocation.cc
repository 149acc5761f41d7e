#include "cluster/allocation.h"

#include <algorithm>

namespace allot {

void Allocation::Clear() {
  entries_.clear();
  shares_.clear();
  holds_until_ = 0;
}

void Allocation::Add(JobIndex job, std::int32_t configuration, std::span<const NodeShare> shares,
                     bool relaunch) {
  entries_.push_back({job, configuration, static_cast<std::int32_t>(shares_.size()),
                      static_cast<std::int32_t>(shares.size()), relaunch});
  for (const NodeShare& share : shares) shares_.push_back(share);  // few: quicker than insert
}

std::span<const NodeShare> Allocation::shares(const Entry& entry) const {
  return std::span(shares_).subspan(static_cast<std::size_t>(entry.first_share),
                                    static_cast<std::size_t>(entry.share_count));
}

bool operator==(const Allocation& a, const Allocation& b) {
  // Entries lie in the order of their shares, so equal counts mean equal offsets.
  return a.shares_ == b.shares_ &&
         std::equal(a.entries_.begin(), a.entries_.end(), b.entries_.begin(), b.entries_.end(),
                    [](const Allocation::Entry& x, const Allocation::Entry& y) {
                      return x.job == y.job && x.configuration == y.configuration &&
                             x.share_count == y.share_count && x.relaunch == y.relaunch;
                    });
}

}  // namespace allot
