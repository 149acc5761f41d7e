#include "cluster/allocation_changes.h"

#include <algorithm>

#include "cluster/validate.h"
#include "core/index.h"

namespace allot {

Allocation InFull(const Observation& o, const AllocationChanges& changes) {
  std::vector<JobIndex> named = changes.stopped;
  for (const Allocation::Entry& entry : changes.given.entries()) named.push_back(entry.job);
  std::sort(named.begin(), named.end());
  Allocation full;
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    const std::size_t r = At(row);
    if (o.running[r] < 0 || std::binary_search(named.begin(), named.end(), o.job[r])) continue;
    JobIndex partner = o.partner_of(row);
    if (std::binary_search(named.begin(), named.end(), partner)) partner = kAlone;
    full.Add(o.job[r], o.running[r], o.shares_of(row), false, partner);
  }
  for (const Allocation::Entry& entry : changes.given.entries()) {
    full.Add(entry.job, entry.configuration, changes.given.shares(entry), entry.relaunch,
             entry.partner);
  }
  if (changes.given.requested_batches()) full.KeepRequestedBatches();
  return full;
}

Status ValidateChanges(const Observation& o, const AllocationChanges& changes) {
  std::vector<JobIndex> runs;
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    if (o.running[At(row)] >= 0) runs.push_back(o.job[At(row)]);
  }
  std::sort(runs.begin(), runs.end());
  std::vector<JobIndex> named;
  for (const Allocation::Entry& entry : changes.given.entries()) named.push_back(entry.job);
  for (const JobIndex job : changes.stopped) {
    if (!std::binary_search(runs.begin(), runs.end(), job)) {
      return Status::Refused("job {}: only jobs that run can be stopped, it is none of the {}", job,
                             runs.size());
    }
    if (std::find(named.begin(), named.end(), job) != named.end()) {
      return Status::Refused("job {}: a job is named once, its stop follows another answer", job);
    }
    named.push_back(job);
  }
  return ValidateAllocation(o, InFull(o, changes));
}

}  // namespace allot
