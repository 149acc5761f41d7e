#include "cluster/ruled_view.h"

#include <algorithm>
#include <bit>

#include "cluster/gpu_numbers.h"
#include "core/index.h"

namespace allot {

void RuledView::Show(const Observation& all, const std::vector<bool>& fixed,
                     const std::vector<std::uint64_t>& closed, bool tell) {
  withheld_.assign(all.cluster->nodes().size(), 0);
  taken_.assign(withheld_.size(), Resources{});
  fixed_rows_.clear();
  for (std::int32_t row = 0; row < all.rows(); ++row) {
    if (!fixed[At(row)]) continue;
    fixed_rows_.push_back(row);
    const auto& kinds = all.table[At(row)]->kinds();
    for (const NodeShare& share : all.shares_of(row)) {
      // Of two jobs on the same GPUs, which are fixed together, one counts.
      const bool counted = share.gpus != 0 && (withheld_[At(share.node)] & share.gpus) != 0;
      if (!counted) taken_[At(share.node)] += DemandOf(kinds, share.units);
      withheld_[At(share.node)] |= share.gpus;
    }
  }
  ShowNodes(all, closed);
  ShowRows(all, fixed);
  if (!tell) {
    shown_.events.Clear();
    return;
  }
  finder_.Find(&shown_);
  shown_.events.ended = all.events.ended;  // exact; who is fixed has not ended
}

void RuledView::ShowNodes(const Observation& all, const std::vector<std::uint64_t>& closed) {
  const std::vector<Node>& nodes = all.cluster->nodes();
  if (cluster_.nodes().size() != nodes.size()) cluster_ = *all.cluster;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    Resources left = nodes[n].capacity;
    if (!closed.empty()) withheld_[n] |= closed[n];
    left.gpus -= std::popcount(withheld_[n] & GpuMask(nodes[n].capacity.gpus));
    left.cpus -= taken_[n].cpus;
    // 0 would be no limit (ClusterSpec::AddNodes).
    if (taken_[n].memory_mb > 0 && left.memory_mb < kUnlimitedMemory) {
      left.memory_mb = std::max<std::int64_t>(1, left.memory_mb - taken_[n].memory_mb);
    }
    if (!(left == cluster_.nodes()[n].capacity)) {
      cluster_.SetCapacity(static_cast<NodeIndex>(n), left);
    }
  }
}

void RuledView::ShowRows(const Observation& all, const std::vector<bool>& fixed) {
  shown_.now = all.now;
  shown_.interval = all.interval;
  shown_.decision = all.decision;
  shown_.cluster = &cluster_;
  shown_.user_names = all.user_names;
  shown_.group_names = all.group_names;
  ForEachJobColumn([&](const auto& column) { shown_.*column.values = all.*column.values; });
  shown_.partner = all.partner;
  shown_.shares.clear();
  shown_.share_begin.assign(1, 0);
  for (std::int32_t row = 0; row < all.rows(); ++row) {
    if (fixed[At(row)]) continue;
    for (NodeShare share : all.shares_of(row)) {
      share.gpus = ClosedUp(share.gpus, ~withheld_[At(share.node)]);
      shown_.shares.push_back(share);
    }
    shown_.share_begin.push_back(static_cast<std::int32_t>(shown_.shares.size()));
  }
  if (fixed_rows_.empty()) return;
  shown_.EraseRows(fixed_rows_);
  if (!shown_.partner.empty()) EraseRowsOf(fixed_rows_, &shown_.partner);
}

void RuledView::Mean(const Observation& all, const Allocation& answer, Allocation* meant) const {
  meant->Clear();
  if (answer.requested_batches()) meant->KeepRequestedBatches();
  std::vector<NodeShare> shares;
  for (const Allocation::Entry& entry : answer.entries()) {
    const auto told = answer.shares(entry);
    shares.assign(told.begin(), told.end());
    for (NodeShare& share : shares) {
      share.gpus = OpenedUp(share.gpus, ~withheld_[At(share.node)]);
    }
    meant->Add(entry.job, entry.configuration, shares, entry.relaunch, entry.partner);
    meant->SetShare(meant->entries().size() - 1, entry.share);
  }
  for (const std::int32_t row : fixed_rows_) {
    meant->Add(all.job[At(row)], all.running[At(row)], all.shares_of(row), false,
               all.partner_of(row));
  }
}

}  // namespace allot
