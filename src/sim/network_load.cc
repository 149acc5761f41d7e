#include "sim/network_load.h"

#include <algorithm>
#include <utility>

namespace allot {

double UplinkDemand(CommunicationPattern pattern, int inside, int nodes) {
  const int outside = nodes - inside;
  if (inside <= 0 || outside <= 0) return 0;
  constexpr double kHalf = 0.5;
  return pattern == CommunicationPattern::kAllToAll ? kHalf * std::min(inside, outside) : 1;
}

NetworkLoad::NetworkLoad(const Topology& topology, std::size_t jobs)
    : topology_(topology), of_job_(jobs) {
  first_uplink_.push_back(0);  // nodes have none
  for (int level = 1; level < topology.top(); ++level) {
    first_uplink_.push_back(uplinks_.size());
    Uplink uplink;
    uplink.capacity = topology.level(level).uplink;
    uplinks_.resize(uplinks_.size() + static_cast<std::size_t>(topology.domains(level)), uplink);
  }
}

void NetworkLoad::Touch(std::size_t uplink) {
  if (uplinks_[uplink].dirty) return;
  uplinks_[uplink].dirty = true;
  dirty_.push_back(uplink);
}

void NetworkLoad::Place(JobIndex job, const Communication& communication,
                        std::span<const NodeShare> shares) {
  Remove(job);
  OfJob& of_job = of_job_[At(job)];
  if (!(communication.share > 0)) return;
  of_job.share = communication.share;
  const int highest = topology_.LevelOf(shares);
  const int nodes = static_cast<int>(shares.size());
  for (int level = 1; level < highest; ++level) {
    inside_.clear();
    for (const NodeShare& share : shares) inside_.push_back(topology_.DomainOf(level, share.node));
    std::sort(inside_.begin(), inside_.end());
    for (std::size_t begin = 0, end = 0; begin < inside_.size(); begin = end) {
      while (end < inside_.size() && inside_[end] == inside_[begin]) ++end;
      const double demand =
          UplinkDemand(communication.pattern, static_cast<int>(end - begin), nodes);
      const std::size_t uplink =
          first_uplink_[static_cast<std::size_t>(level)] + static_cast<std::size_t>(inside_[begin]);
      of_job.uses.push_back({uplink, demand});
      std::vector<Member>& members = uplinks_[uplink].members;
      const auto at = std::lower_bound(members.begin(), members.end(), job,
                                       [](const Member& m, JobIndex j) { return m.job < j; });
      members.insert(at, {job, of_job.share * demand});
      Touch(uplink);
    }
  }
}

void NetworkLoad::Remove(JobIndex job) {
  OfJob& of_job = of_job_[At(job)];
  for (const Use& use : of_job.uses) {
    std::erase_if(uplinks_[use.uplink].members, [job](const Member& m) { return m.job == job; });
    Touch(use.uplink);
  }
  of_job.uses.clear();
  of_job.congestion = 1;
}

std::span<const JobIndex> NetworkLoad::Update() {
  changed_.clear();
  for (const std::size_t index : dirty_) {
    Uplink& uplink = uplinks_[index];
    uplink.dirty = false;
    uplink.load = 0;
    for (const Member& member : uplink.members) {
      uplink.load += member.load;
      changed_.push_back(member.job);
    }
  }
  dirty_.clear();
  std::sort(changed_.begin(), changed_.end());
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  std::erase_if(changed_, [this](JobIndex job) {
    OfJob& of_job = of_job_[At(job)];
    double congestion = 1;
    for (const Use& use : of_job.uses) {
      const Uplink& uplink = uplinks_[use.uplink];
      congestion =
          std::max(congestion, (use.demand * (1 - of_job.share) + uplink.load) / uplink.capacity);
    }
    return std::exchange(of_job.congestion, congestion) == congestion;
  });
  return changed_;
}

bool NetworkLoad::SharesUplink(JobIndex job) const {
  const std::vector<Use>& uses = of_job_[At(job)].uses;
  return std::any_of(uses.begin(), uses.end(),
                     [this](const Use& use) { return uplinks_[use.uplink].members.size() > 1; });
}

void NetworkLoad::PlaceStarted(const SimulatedJobs& jobs) {
  for (std::size_t slot = 0; slot < jobs.running.size(); ++slot) {
    const PlacedModel* const placed = jobs.FactsOf(jobs.RowIn(slot)).placed();
    if (jobs.running[slot].finish != kNever || placed == nullptr) continue;
    Place(jobs.JobIn(slot), placed->communication(),
          jobs.observation.shares_of(jobs.running_rows[slot]));
  }
}

PlaceFactors NetworkLoad::PlaceOf(const SimulatedJobs& jobs, std::size_t slot) const {
  const std::size_t row = jobs.RowIn(slot);
  const PlacedModel* const placed = jobs.FactsOf(row).placed();
  if (placed == nullptr) return {};
  return {.level = topology_.LevelFactor(jobs.TrueConfiguration(row).gpu_type,
                                         jobs.observation.shares_of(jobs.running_rows[slot]),
                                         placed->measures_nodes()),
          .congestion = congestion(jobs.JobIn(slot))};
}

Seconds NetworkLoad::FirstSharedEnd(const SimulatedJobs& jobs, Seconds time) const {
  Seconds end = time;
  if (jobs.first_finish >= time) return end;
  for (std::size_t slot = 0; slot < jobs.running.size(); ++slot) {
    const Seconds finish = jobs.running[slot].finish;
    if (finish < end && SharesUplink(jobs.JobIn(slot))) end = finish;
  }
  return end;
}

}  // namespace allot
