#include "cluster/observation.h"

#include <algorithm>
#include <cmath>

namespace allot {

Allocation InFull(const Observation& o, const Allocation& changes) {
  if (!changes.is_changes()) return changes;
  std::vector<JobIndex> named = changes.stopped();
  for (const Allocation::Entry& entry : changes.entries()) named.push_back(entry.job);
  std::sort(named.begin(), named.end());
  Allocation full;
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    const auto r = static_cast<std::size_t>(row);
    if (o.running[r] < 0 || std::binary_search(named.begin(), named.end(), o.job[r])) continue;
    full.Add(o.job[r], o.running[r], o.shares_of(row));
  }
  for (const Allocation::Entry& entry : changes.entries()) {
    full.Add(entry.job, entry.configuration, changes.shares(entry), entry.relaunch);
  }
  return full;
}

double EstimatedRemaining(double estimated_work, double done_work) {
  if (std::isnan(estimated_work)) return kUnknown;
  const double left = estimated_work - done_work;
  return left > 0 ? left : 0.1 * std::max(estimated_work, done_work);
}

}  // namespace allot
