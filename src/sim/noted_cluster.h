#pragma once
// A cluster that notes every change of who holds what, and else is the cluster below it: the same
// answers, decisions and times. Used by RunPolicy. A change costs its shares.

#include <vector>

#include "cluster/allocation_note.h"
#include "cluster/incremental_cluster.h"

namespace allot {

class NotedCluster : public ClusterPort, public IncrementalCluster {
 public:
  // All must outlive it. `truth`: what the cluster shows, with jobs that policies do not see; its
  // events report changes.
  NotedCluster(ClusterPort& cluster, const Observation& truth, std::vector<AllocationNote>* notes)
      : cluster_(cluster), truth_(truth), notes_(*notes) {}

  const Observation& Observe() const override { return cluster_.Observe(); }
  Status Validate(const Allocation& allocation) const override {
    return cluster_.Validate(allocation);
  }
  ApplyReport Apply(const Allocation& allocation) override {
    return Noted(cluster_.Apply(allocation));
  }
  ApplyReport ApplyValidated(const Allocation& allocation) override {
    return Noted(cluster_.ApplyValidated(allocation));
  }
  bool WaitForChange(Seconds holds_until) override;
  IncrementalCluster* incremental() override {
    return cluster_.incremental() == nullptr ? nullptr : this;
  }
  ApplyReport ApplyChanges(const AllocationChanges& changes) override {
    return Noted(cluster_.incremental()->ApplyChanges(changes));
  }
  bool PromiseMatters() const override { return cluster_.incremental()->PromiseMatters(); }

 private:
  ApplyReport Noted(ApplyReport report);

  ClusterPort& cluster_;
  const Observation& truth_;
  std::vector<AllocationNote>& notes_;
  std::int64_t noted_decision_ = -1;
  std::vector<bool> holds_;  // by job, as noted
};

}  // namespace allot
