#include "cluster/allocation.h"

#include <algorithm>

namespace allot {

void Allocation::Clear() {
  entries_.clear();
  shares_.clear();
  has_partners_ = false;
}

bool operator==(const Allocation& a, const Allocation& b) {
  // Entries lie in the order of their shares, so equal counts mean equal offsets.
  return a.shares_ == b.shares_ &&
         std::equal(a.entries_.begin(), a.entries_.end(), b.entries_.begin(), b.entries_.end(),
                    [](const Allocation::Entry& x, const Allocation::Entry& y) {
                      return x.job == y.job && x.configuration == y.configuration &&
                             x.share_count == y.share_count && x.relaunch == y.relaunch &&
                             x.partner == y.partner;
                    });
}

}  // namespace allot
