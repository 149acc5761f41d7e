#pragma once
// The machines as policies see them: without the GPUs that no decision can give. These are the GPUs
// of jobs that are pinned or held by a rule (LiveJob::fixed), those that others hold or may claim
// (RuntimeNode::taken), and for a while the free ones of a node where the cluster did not begin
// with what was given. Policies know only jobs that may be moved, and GPUs from 0 on each node; so
// the numbers of those that are left close up, and an answer is told in the machines' own numbers
// again. One place in front of all policies, shadows and libraries. LiveCluster is the only caller.

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "cluster/cluster_spec.h"
#include "cluster/observation.h"
#include "live/state/live_state.h"

namespace allot {

class PolicyView {
 public:
  // As the state is now. Valid for observations and answers until the next call.
  // `avoided`: nodes.
  void Refresh(const LiveState& state, const std::set<NodeIndex>& avoided);

  const ClusterSpec& cluster() const { return cluster_; }
  // The shares of all rows, from the machines' numbers to those of the view.
  void Show(Observation* observation) const;
  // The other way.
  std::vector<NodeShare> Meant(std::span<const NodeShare> shares) const;
  GpuCount withheld(NodeIndex node) const;
  const HeldGpus& givable() const { return givable_; }  // by node, in the machines' numbers

 private:
  ClusterSpec cluster_;
  std::vector<std::uint64_t> withheld_;  // by node
  HeldGpus givable_;
};

}  // namespace allot
