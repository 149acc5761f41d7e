#include "sim/noted_cluster.h"

#include <bit>

#include "core/index.h"

namespace allot {

ApplyReport NotedCluster::Noted(ApplyReport report) {
  const Observation& o = truth_;
  if (!report.refused.ok() || noted_decision_ == o.decision) return report;
  noted_decision_ = o.decision;
  for (const std::int32_t row : o.events.changed) {
    const JobIndex job = o.job[At(row)];
    if (At(job) >= holds_.size()) holds_.resize(At(job) + 1, false);
    AllocationNote note{.time = o.now, .job = job};
    for (const NodeShare& share : o.shares_of(row)) {
      note.nodes.push_back({share.node, static_cast<GpuCount>(std::popcount(share.gpus))});
    }
    holds_[At(job)] = !note.nodes.empty();
    notes_.push_back(std::move(note));
  }
  return report;
}

// Between decisions jobs lose what they hold where their node goes.
bool NotedCluster::WaitForChange(Seconds holds_until) {
  const bool more = cluster_.WaitForChange(holds_until);
  const Observation& o = truth_;
  for (const std::int32_t row : o.events.changed) {
    const JobIndex job = o.job[At(row)];
    if (o.running[At(row)] >= 0 || At(job) >= holds_.size() || !holds_[At(job)]) continue;
    holds_[At(job)] = false;
    notes_.push_back({.time = o.waiting_since[At(row)], .job = job});
  }
  return more;
}

}  // namespace allot
