#include "live/port/policy_view.h"

#include <algorithm>
#include <bit>

#include "cluster/gpu_numbers.h"
#include "core/index.h"

namespace allot {
namespace {

// Which GPUs others have is not known by number: the last ones that no worker of ours holds.
std::uint64_t TakenOf(const RuntimeNode& node, std::uint64_t held) {
  std::uint64_t free = GpuMask(node.capacity.gpus) & ~held;
  std::uint64_t taken = 0;
  for (GpuCount left = node.taken; left > 0 && free != 0; --left) {
    const std::uint64_t last = std::bit_floor(free);
    taken |= last;
    free &= ~last;
  }
  return taken;
}

}  // namespace

void PolicyView::Refresh(const LiveState& state, const std::set<NodeIndex>& avoided) {
  const std::vector<RuntimeNode>& nodes = state.nodes();
  withheld_.assign(nodes.size(), 0);
  HeldGpus held = state.Held();
  HeldGpus given(nodes.size(), 0);
  for (const LiveJob* job : state.job_table().active()) {
    for (const NodeShare& share : job->shares) given[At(share.node)] |= share.gpus;
    if (job->hold) {
      for (const NodeShare& share : job->shares) withheld_[At(share.node)] |= share.gpus;
    }
    if (!job->pinned()) continue;
    for (const LiveWorker& worker : job->worker_group.workers()) {
      withheld_[At(worker.node)] |= worker.gpus;
    }
  }
  givable_.assign(nodes.size(), 0);
  const ClusterSpec& present = state.present();
  if (cluster_.nodes().size() != present.nodes().size()) cluster_ = present;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    // What a decision gave is not taken from under a worker that is about to begin; of a node that
    // is avoided, nothing else is seen.
    const bool avoid = avoided.contains(static_cast<NodeIndex>(n));
    withheld_[n] |= avoid ? ~given[n] : TakenOf(nodes[n], held[n] | given[n]);
    Resources left = present.nodes()[n].capacity;
    givable_[n] = GpuMask(left.gpus) & ~withheld_[n];
    left.gpus -= std::popcount(withheld_[n] & GpuMask(left.gpus));
    if (left.gpus == 0) left = {};
    cluster_.SetCapacity(static_cast<NodeIndex>(n), left);
  }
}

void PolicyView::Show(Observation* observation) const {
  for (NodeShare& share : observation->shares) {
    share.gpus = ClosedUp(share.gpus, ~withheld_[At(share.node)]);
  }
}

std::vector<NodeShare> PolicyView::Meant(std::span<const NodeShare> shares) const {
  std::vector<NodeShare> meant(shares.begin(), shares.end());
  for (NodeShare& share : meant) share.gpus = OpenedUp(share.gpus, ~withheld_[At(share.node)]);
  return meant;
}

GpuCount PolicyView::withheld(NodeIndex node) const { return std::popcount(withheld_[At(node)]); }

}  // namespace allot
