#include "rules/constrained_view.h"

#include <algorithm>
#include <bit>

#include "core/index.h"

namespace allot {
namespace {

// The bits of `mask`, each at its place among the bits of `left`.
std::uint64_t NumberFromZero(std::uint64_t mask, std::uint64_t left) {
  std::uint64_t numbers = 0;
  for (mask &= left; mask != 0; mask &= mask - 1) {
    const std::uint64_t below = (mask & -mask) - 1;
    numbers |= std::uint64_t{1} << std::popcount(left & below);
  }
  return numbers;
}

// Undoes NumberFromZero.
std::uint64_t NumberAsMachine(std::uint64_t mask, std::uint64_t left) {
  std::uint64_t numbers = 0;
  for (; mask != 0 && left != 0; mask >>= 1U, left &= left - 1) {
    if ((mask & 1U) != 0) numbers |= left & -left;
  }
  return numbers;
}

}  // namespace

void ConstrainedView::Show(const Observation& all, const Constraints& constraints,
                           bool next_decision) {
  Hide(all, constraints);
  Withhold(all, constraints);
  ShowNodes(all);
  ShowRows(all);
  if (next_decision) {
    ShowEvents(all);
  } else {
    shown_.events.Clear();
  }
}

void ConstrainedView::Hide(const Observation& all, const Constraints& constraints) {
  hidden_ = constraints.hidden;
  for (std::size_t r = 0; r < all.partner.size(); ++r) {
    if (!constraints.hidden[r] || all.partner[r] == kAlone) continue;
    const auto partner = std::lower_bound(all.job.begin(), all.job.end(), all.partner[r]);
    hidden_[static_cast<std::size_t>(partner - all.job.begin())] = true;
  }
  hidden_rows_.clear();
  for (std::int32_t row = 0; row < all.rows(); ++row) {
    if (hidden_[At(row)]) hidden_rows_.push_back(row);
  }
}

void ConstrainedView::Withhold(const Observation& all, const Constraints& constraints) {
  const std::size_t nodes = all.cluster->nodes().size();
  withheld_.assign(nodes, 0);
  pinned_.assign(nodes, Resources{});
  for (const std::int32_t row : hidden_rows_) {
    const auto& kinds = all.table[At(row)]->kinds();
    for (const NodeShare& share : all.shares_of(row)) {
      // Of two jobs on the same GPUs, which are hidden together, one counts.
      const bool counted = share.gpus != 0 && (withheld_[At(share.node)] & share.gpus) != 0;
      if (!counted) pinned_[At(share.node)] += DemandOf(kinds, share.units);
      withheld_[At(share.node)] |= share.gpus;
    }
  }
  for (std::size_t n = 0; n < constraints.withheld.size(); ++n) {
    withheld_[n] |= constraints.withheld[n];
  }
  if (constraints.node_use.empty()) return;
  std::vector<std::uint64_t> allocated(nodes, 0);
  for (const NodeShare& share : all.shares) allocated[At(share.node)] |= share.gpus;
  for (std::size_t n = 0; n < nodes; ++n) {
    if (constraints.node_use[n] != NodeUse::kOpen) withheld_[n] |= ~allocated[n];
  }
}

void ConstrainedView::ShowNodes(const Observation& all) {
  const std::vector<Node>& nodes = all.cluster->nodes();
  if (cluster_.nodes().size() != nodes.size()) cluster_ = *all.cluster;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    Resources left = nodes[n].capacity;
    left.gpus -= std::popcount(withheld_[n] & GpuMask(nodes[n].capacity.gpus));
    left.cpus = std::max(0, left.cpus - pinned_[n].cpus);
    // 0 would be no limit (ClusterSpec::AddNodes).
    if (pinned_[n].memory_mb > 0 && left.memory_mb < kUnlimitedMemory) {
      left.memory_mb = std::max<std::int64_t>(1, left.memory_mb - pinned_[n].memory_mb);
    }
    if (!(left == cluster_.nodes()[n].capacity)) {
      cluster_.SetCapacity(static_cast<NodeIndex>(n), left);
    }
  }
}

void ConstrainedView::ShowRows(const Observation& all) {
  shown_.now = all.now;
  shown_.interval = all.interval;
  shown_.decision = all.decision;
  shown_.cluster = &cluster_;
  ShowLent(all);
  shown_.user_names = all.user_names;
  shown_.group_names = all.group_names;
  ForEachJobColumn([&](const auto& column) { shown_.*column.values = all.*column.values; });
  shown_.partner = all.partner;
  shown_.places = all.places;
  shown_.shares.clear();
  shown_.share_begin.assign(1, 0);
  for (std::int32_t row = 0; row < all.rows(); ++row) {
    if (hidden_[At(row)]) continue;
    for (NodeShare share : all.shares_of(row)) {
      share.gpus = NumberFromZero(share.gpus, ~withheld_[At(share.node)]);
      shown_.shares.push_back(share);
    }
    shown_.share_begin.push_back(static_cast<std::int32_t>(shown_.shares.size()));
  }
  if (hidden_rows_.empty()) return;
  shown_.EraseRows(hidden_rows_);
  if (!shown_.partner.empty()) EraseRowsOf(hidden_rows_, &shown_.partner);
  if (!shown_.places.empty()) EraseRowsOf(hidden_rows_, &shown_.places);
}

// Without the GPUs of hidden jobs, which go on.
void ConstrainedView::ShowLent(const Observation& all) {
  shown_.lent = all.lent;
  if (!all.lent) return;
  GpuCount hidden = 0;
  for (const Resources& pinned : pinned_) hidden += pinned.gpus;
  *shown_.lent -= hidden;
  shown_.guaranteed = all.guaranteed;
  for (GpuCount& gpus : shown_.guaranteed) gpus = std::max(0, gpus - hidden);
}

// Arrivals and changes are those of what was shown. Ends and new tables are exact where the cluster
// reports them.
void ConstrainedView::ShowEvents(const Observation& all) {
  finder_.Find(&shown_);
  Events& events = shown_.events;
  events.number = all.events.number;
  events.ended.clear();
  for (const EndedJob& ended : all.events.ended) {
    if (At(ended.job) >= known_.size() || !known_[At(ended.job)]) continue;
    events.ended.push_back(ended);
    known_[At(ended.job)] = false;
  }
  events.table_changed.clear();
  for (const std::int32_t row : all.events.table_changed) {
    if (hidden_[At(row)]) continue;
    const auto before = std::lower_bound(hidden_rows_.begin(), hidden_rows_.end(), row);
    events.table_changed.push_back(row - static_cast<std::int32_t>(before - hidden_rows_.begin()));
  }
  for (const JobIndex job : shown_.job) {
    if (At(job) >= known_.size()) known_.resize(At(job) + 1);
    known_[At(job)] = true;
  }
}

std::uint64_t ConstrainedView::GivableOn(NodeIndex node) const {
  const GpuCount left = cluster_.nodes()[At(node)].capacity.gpus;
  return NumberAsMachine(GpuMask(left), ~withheld_[At(node)]);
}

void ConstrainedView::Translate(const Observation& all, const Allocation& answer,
                                Allocation* full) const {
  full->Clear();
  if (answer.requested_batches()) full->KeepRequestedBatches();
  std::vector<NodeShare> shares;
  for (const Allocation::Entry& entry : answer.entries()) {
    const auto shown = answer.shares(entry);
    shares.assign(shown.begin(), shown.end());
    for (NodeShare& share : shares) {
      share.gpus = NumberAsMachine(share.gpus, ~withheld_[At(share.node)]);
    }
    full->Add(entry.job, entry.configuration, shares, entry.relaunch, entry.partner);
    full->SetShare(full->entries().size() - 1, entry.share);
  }
  for (const std::int32_t row : hidden_rows_) {
    if (all.running[At(row)] < 0) continue;
    full->Add(all.job[At(row)], all.running[At(row)], all.shares_of(row), false,
              all.partner_of(row));
  }
}

}  // namespace allot
