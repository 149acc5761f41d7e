#include "sched/placer.h"

#include <algorithm>
#include <array>

namespace allot {
namespace {

std::size_t At(std::int32_t index) { return static_cast<std::size_t>(index); }

}  // namespace

void ChooserPlacement::Place(const Observation& o, std::span<const Grant> grants,
                             Allocation* allocation) {
  allocation->Clear();
  free_.Reset(*o.cluster);
  // First pass: who stays, stays where it is.
  kept_.assign(grants.size(), 0);
  for (std::size_t g = 0; g < grants.size(); ++g) {
    const Grant& grant = grants[g];
    if (o.running[At(grant.row)] != grant.configuration) continue;
    const auto& kinds = o.table[At(grant.row)]->kinds();
    bool whole = true;
    for (const NodeShare& share : o.shares_of(grant.row)) {
      whole = whole && free_.TakeExactly(share.node, share.gpus, DemandOf(kinds, share.units).cpus);
    }
    kept_[g] = whole ? 1 : 0;
  }
  // Second pass: the others, in order.
  for (std::size_t g = 0; g < grants.size(); ++g) {
    const Grant& grant = grants[g];
    const JobIndex job = o.job[At(grant.row)];
    if (kept_[g] != 0) {
      allocation->Add(job, grant.configuration, o.shares_of(grant.row));
    } else if (PlaceUnits(o, grant)) {
      allocation->Add(job, grant.configuration, shares_);
    }
  }
}

bool ChooserPlacement::PlaceUnits(const Observation& o, const Grant& grant) {
  const ConfigurationTable& table = *o.table[At(grant.row)];
  const Configuration& configuration = table[grant.configuration];
  shares_.clear();
  if (!configuration.demand.FitsIn(free_.total_free(configuration.gpu_type))) return false;

  // The kind that needs most GPUs a unit goes first: it is the hardest to place.
  std::array<std::size_t, kMaxUnitKinds> kinds{};
  for (std::size_t k = 0; k < kinds.size(); ++k) kinds[k] = k;
  std::stable_sort(kinds.begin(), kinds.begin() + static_cast<std::ptrdiff_t>(table.kinds().size()),
                   [&](std::size_t a, std::size_t b) {
                     return table.kinds()[a].demand.gpus > table.kinds()[b].demand.gpus;
                   });
  const auto undo = [&] {
    for (const NodeShare& share : shares_) {
      free_.Release(share.node, share.gpus, DemandOf(table.kinds(), share.units).cpus);
    }
    shares_.clear();
    return false;
  };
  for (std::size_t i = 0; i < table.kinds().size(); ++i) {
    const std::size_t kind = kinds[i];
    const std::int32_t count = configuration.units[kind];
    if (count == 0) continue;
    const Resources& demand = table.kinds()[kind].demand;
    chosen_.clear();
    if (!chooser_->Choose(*o.cluster, free_, configuration.gpu_type, demand, count,
                          o.shares_of(grant.row), &chosen_)) {
      return undo();
    }
    for (const UnitShare& unit_share : chosen_) {
      NodeShare share;
      share.node = unit_share.node;
      share.units[kind] = static_cast<std::int16_t>(unit_share.units);
      share.gpus = free_.Take(unit_share.node, demand * unit_share.units);
      const auto same = std::find_if(shares_.begin(), shares_.end(),
                                     [&](const NodeShare& s) { return s.node == share.node; });
      if (same == shares_.end()) {
        shares_.push_back(share);
      } else {
        same->units[kind] = static_cast<std::int16_t>(same->units[kind] + share.units[kind]);
        same->gpus |= share.gpus;
      }
    }
  }
  std::sort(shares_.begin(), shares_.end(),
            [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; });
  return true;
}

}  // namespace allot
