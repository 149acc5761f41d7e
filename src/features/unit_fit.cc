#include "features/unit_fit.h"

#include <algorithm>
#include <tuple>

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

// Appends the units, where need be after moving others; when none are found nothing is changed.
UnitFit::Found UnitFit::PlaceMore(std::int32_t row, GpuTypeIndex type,
                                  const std::vector<UnitKind>& kinds, const UnitCounts& counts) {
  const std::size_t before = units_.size();
  bool placed = true;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    for (int i = 0; i < counts.of(k); ++i) {
      units_.push_back({row, static_cast<std::int32_t>(k), type, kinds[k].demand, -1, 0});
      placed = placed && Place(&units_.back());
    }
  }
  if (placed) return Found::kBesideOthers;
  if (PlaceAnew()) return Found::kAnew;
  Undo(before);
  return Found::kNone;
}

bool UnitFit::PlaceAnew() {
  free_before_.CopyFrom(free_);
  units_before_ = units_;
  std::stable_sort(units_.begin(), units_.end(), [](const Unit& a, const Unit& b) {
    return std::tie(b.demand.gpus, b.demand.cpus, b.demand.memory_mb, a.type) <
           std::tie(a.demand.gpus, a.demand.cpus, a.demand.memory_mb, b.type);
  });
  int tries_left = kMostTries;
  if (PlaceLargestFirst() || PlaceAnyWay(0, &tries_left)) return true;
  RestoreBefore();
  return false;
}

bool UnitFit::PlaceLargestFirst() {
  free_.Reset(*cluster_);
  if (std::all_of(units_.begin(), units_.end(), [this](Unit& unit) { return Place(&unit); })) {
    return true;
  }
  free_.Reset(*cluster_);
  return false;
}

// The units from `first` on; on failure nothing is changed. Equal units go to nodes in order, since
// to exchange them is no other way.
bool UnitFit::PlaceAnyWay(std::size_t first, int* tries_left) {
  if (first == units_.size()) return true;
  if (units_.size() - first > At(*tries_left)) return false;
  Unit& unit = units_[first];
  const bool same =
      first > 0 && units_[first - 1].type == unit.type && units_[first - 1].demand == unit.demand;
  const auto nodes = static_cast<NodeIndex>(cluster_->nodes().size());
  for (NodeIndex n = same ? units_[first - 1].node : 0; n<nodes&& * tries_left> 0; ++n) {
    if (cluster_->nodes()[At(n)].type != unit.type || free_.Capacity(n, unit.demand, 1) < 1) {
      continue;
    }
    --*tries_left;
    unit.node = n;
    unit.gpus = free_.Take(n, unit.demand);
    if (PlaceAnyWay(first + 1, tries_left)) return true;
    free_.Release(n, unit.gpus, unit.demand);
  }
  return false;
}

void UnitFit::RestoreBefore() {
  free_.CopyFrom(free_before_);
  units_.swap(units_before_);
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
  const Found found = PlaceMore(-1, type, kinds, counts);
  asked.fits = found != Found::kNone;
  if (found == Found::kAnew) RestoreBefore();
  Undo(before);
  answers_.push_back(asked);
  return asked.fits;
}

void UnitFit::Take(std::int32_t row, GpuTypeIndex type, const std::vector<UnitKind>& kinds,
                   const UnitCounts& counts) {
  ALLOT_CHECK(PlaceMore(row, type, kinds, counts) != Found::kNone);
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
    const ConfigurationTable& table = *observation.table[At(row)];
    const std::vector<UnitKind>& kinds = table.kinds();
    shares_.clear();
    for (; unit != units_.end() && unit->row == row; ++unit) {
      if (shares_.empty() || shares_.back().node != unit->node) shares_.push_back({unit->node});
      shares_.back().units.Add(At(unit->kind));
    }
    for (NodeShare& share : shares_) {
      share.gpus = gpus_.Take(share.node, DemandOf(kinds, share.units));
    }
    const Configuration& granted = table[configurations[At(row)]];
    const std::int32_t placed = granted.span.Holds(shares_.size())
                                    ? configurations[At(row)]
                                    : table.Find(granted.units, granted.gpu_type, shares_.size());
    if (placed >= 0) allocation->Add(observation.job[At(row)], placed, shares_);
  }
}

}  // namespace allot
