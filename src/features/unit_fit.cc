#include "features/unit_fit.h"

#include <algorithm>

#include "core/check.h"
#include "core/index.h"

namespace allot {

void UnitFit::Reset(const ClusterSpec& cluster) {
  cluster_ = &cluster;
  free_.Reset(cluster);
  units_.clear();
  answers_.clear();
}

NodeIndex UnitFit::Fullest(GpuTypeIndex type, const Resources& demand) const {
  NodeIndex fullest = -1;
  const auto nodes = static_cast<NodeIndex>(cluster_->nodes().size());
  for (NodeIndex n = 0; n < nodes; ++n) {
    if (cluster_->nodes()[At(n)].type != type || free_.Capacity(n, demand, 1) < 1) continue;
    if (fullest < 0 || free_.free_gpus(n) < free_.free_gpus(fullest) ||
        (free_.free_gpus(n) == free_.free_gpus(fullest) &&
         free_.free_cpus(n) < free_.free_cpus(fullest))) {
      fullest = n;
    }
  }
  return fullest;
}

bool UnitFit::Place(Unit* unit) {
  unit->node = Fullest(unit->type, unit->demand);
  if (unit->node < 0) return false;
  unit->gpus = free_.Take(unit->node, unit->demand);
  return true;
}

void UnitFit::Undo(std::size_t units) {
  for (; units_.size() > units; units_.pop_back()) {
    const Unit& last = units_.back();
    if (last.node >= 0) free_.Release(last.node, last.gpus, last.demand);
  }
}

// Appends the units, where need be after moving others; on failure nothing is changed.
bool UnitFit::PlaceMore(std::int32_t row, GpuTypeIndex type, const std::vector<UnitKind>& kinds,
                        const UnitCounts& counts) {
  const std::size_t before = units_.size();
  bool placed = true;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    for (int i = 0; i < counts.of(k); ++i) {
      units_.push_back({row, static_cast<std::int32_t>(k), type, kinds[k].demand, -1, 0});
      placed = placed && Place(&units_.back());
    }
  }
  if (placed || PlaceAnew()) return true;
  Undo(before);
  return false;
}

bool UnitFit::PlaceAnew() {
  free_before_.CopyFrom(free_);
  units_before_ = units_;
  free_.Reset(*cluster_);
  std::stable_sort(units_.begin(), units_.end(), [](const Unit& a, const Unit& b) {
    return a.demand.gpus != b.demand.gpus ? a.demand.gpus > b.demand.gpus
                                          : a.demand.cpus > b.demand.cpus;
  });
  for (Unit& unit : units_) {
    if (Place(&unit)) continue;
    free_.CopyFrom(free_before_);
    units_.swap(units_before_);
    return false;
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
      shares_.back().units.Add(At(unit->kind));
    }
    for (NodeShare& share : shares_) {
      share.gpus = gpus_.Take(share.node, DemandOf(kinds, share.units));
    }
    allocation->Add(observation.job[At(row)], configurations[At(row)], shares_);
  }
}

}  // namespace allot
