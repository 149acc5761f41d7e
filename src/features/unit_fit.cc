#include "features/unit_fit.h"

#include <algorithm>

#include "core/check.h"
#include "core/index.h"

namespace allot {

void UnitFit::Reset(const ClusterSpec& cluster) {
  cluster_ = &cluster;
  free_.clear();
  for (const Node& node : cluster.nodes()) free_.push_back(node.capacity);
  units_.clear();
  answers_.clear();
}

NodeIndex UnitFit::Fullest(GpuTypeIndex type, const Resources& demand) const {
  NodeIndex fullest = -1;
  for (std::size_t n = 0; n < free_.size(); ++n) {
    if (cluster_->nodes()[n].type != type || !demand.FitsIn(free_[n])) continue;
    if (fullest < 0 || free_[n].gpus < free_[At(fullest)].gpus ||
        (free_[n].gpus == free_[At(fullest)].gpus && free_[n].cpus < free_[At(fullest)].cpus)) {
      fullest = static_cast<NodeIndex>(n);
    }
  }
  return fullest;
}

void UnitFit::Undo(std::size_t units) {
  while (units_.size() > units) {
    if (units_.back().node >= 0) free_[At(units_.back().node)] += units_.back().demand;
    units_.pop_back();
  }
}

// Appends the units, where need be after moving others; on failure nothing is changed.
bool UnitFit::PlaceMore(std::int32_t row, GpuTypeIndex type, const std::vector<UnitKind>& kinds,
                        const UnitCounts& counts) {
  const std::size_t before = units_.size();
  bool placed = true;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    for (int i = 0; i < counts[k]; ++i) {
      const NodeIndex node = placed ? Fullest(type, kinds[k].demand) : -1;
      units_.push_back({row, static_cast<std::int32_t>(k), type, kinds[k].demand, node});
      placed = node >= 0;
      if (placed) free_[At(node)] -= kinds[k].demand;
    }
  }
  if (placed || PlaceAnew()) return true;
  Undo(before);
  return false;
}

bool UnitFit::PlaceAnew() {
  free_before_ = free_;
  units_before_ = units_;
  for (std::size_t n = 0; n < free_.size(); ++n) free_[n] = cluster_->nodes()[n].capacity;
  std::stable_sort(units_.begin(), units_.end(), [](const Unit& a, const Unit& b) {
    return a.demand.gpus != b.demand.gpus ? a.demand.gpus > b.demand.gpus
                                          : a.demand.cpus > b.demand.cpus;
  });
  for (Unit& unit : units_) {
    unit.node = Fullest(unit.type, unit.demand);
    if (unit.node < 0) {
      free_.swap(free_before_);
      units_.swap(units_before_);
      return false;
    }
    free_[At(unit.node)] -= unit.demand;
  }
  return true;
}

bool UnitFit::Fits(GpuTypeIndex type, const std::vector<UnitKind>& kinds,
                   const UnitCounts& counts) {
  Answer asked{type, {}, counts, false};
  for (std::size_t k = 0; k < kinds.size(); ++k) asked.demands[k] = kinds[k].demand;
  for (const Answer& known : answers_) {
    if (known.type == type && known.demands == asked.demands && known.counts == counts) {
      return known.fits;
    }
  }
  const std::size_t before = units_.size();
  asked.fits = PlaceMore(-1, type, kinds, counts);
  if (asked.fits) {
    // Where others were moved, the asked-for units stand anywhere among them.
    const auto trial = std::stable_partition(units_.begin(), units_.end(),
                                             [](const Unit& unit) { return unit.row >= 0; });
    ALLOT_CHECK_EQ(static_cast<std::size_t>(trial - units_.begin()), before);
    Undo(before);
  }
  answers_.push_back(asked);
  return asked.fits;
}

void UnitFit::Take(std::int32_t row, GpuTypeIndex type, const std::vector<UnitKind>& kinds,
                   const UnitCounts& counts) {
  const bool fits = PlaceMore(row, type, kinds, counts);
  ALLOT_CHECK(fits);
  answers_.clear();
}

void UnitFit::Finish(const Observation& observation, std::span<const std::int32_t> configurations,
                     Allocation* allocation) {
  allocation->Clear();
  gpus_.Reset(*cluster_);
  std::stable_sort(units_.begin(), units_.end(), [](const Unit& a, const Unit& b) {
    return a.row != b.row ? a.row < b.row : a.node < b.node;
  });
  auto unit = units_.begin();
  for (std::int32_t row = 0; row < observation.rows(); ++row) {
    if (configurations[At(row)] < 0) continue;
    const std::vector<UnitKind>& kinds = observation.table[At(row)]->kinds();
    shares_.clear();
    for (; unit != units_.end() && unit->row == row; ++unit) {
      if (shares_.empty() || shares_.back().node != unit->node) shares_.push_back({unit->node});
      ++shares_.back().units[At(unit->kind)];
    }
    for (NodeShare& share : shares_) {
      share.gpus = gpus_.Take(share.node, DemandOf(kinds, share.units));
    }
    allocation->Add(observation.job[At(row)], configurations[At(row)], shares_);
  }
}

}  // namespace allot
