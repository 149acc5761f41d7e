#include "live/policy_view.h"

#include <algorithm>
#include <bit>

#include "core/index.h"

namespace allot {
namespace {

// The bits of `mask` at the places of `from`'s bits, closed up; and the other way.
std::uint64_t Closed(std::uint64_t mask, std::uint64_t from) {
  std::uint64_t closed = 0;
  for (int place = 0; from != 0; from &= from - 1, ++place) {
    if ((mask & from & -from) != 0) closed |= std::uint64_t{1} << place;
  }
  return closed;
}

std::uint64_t Opened(std::uint64_t mask, std::uint64_t into) {
  std::uint64_t opened = 0;
  for (; mask != 0 && into != 0; mask >>= 1U, into &= into - 1) {
    if ((mask & 1U) != 0) opened |= into & -into;
  }
  return opened;
}

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
    share.gpus = Closed(share.gpus, ~withheld_[At(share.node)]);
  }
}

std::vector<NodeShare> PolicyView::Meant(std::span<const NodeShare> shares) const {
  std::vector<NodeShare> meant(shares.begin(), shares.end());
  for (NodeShare& share : meant) share.gpus = Opened(share.gpus, ~withheld_[At(share.node)]);
  return meant;
}

GpuCount PolicyView::withheld(NodeIndex node) const { return std::popcount(withheld_[At(node)]); }

}  // namespace allot
