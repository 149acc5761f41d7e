#include "sched/placer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/index.h"

namespace allot {
namespace {

class PassingPlacement : public Placement {
 public:
  explicit PassingPlacement(std::unique_ptr<NodeChooser> chooser) : placer_(std::move(chooser)) {}

  void Place(const Observation& o, std::span<const Grant> grants, Allocation* allocation) override {
    allocation->Clear();
    placer_.Reset(*o.cluster);
    // First pass: who stays, stays where it is.
    kept_.assign(grants.size(), 0);
    for (std::size_t g = 0; g < grants.size(); ++g) {
      if (o.running[At(grants[g].row)] != grants[g].configuration) continue;
      kept_[g] = placer_.Keep(o, grants[g].row) ? 1 : 0;
    }
    // Second pass: the others, in order.
    for (std::size_t g = 0; g < grants.size(); ++g) {
      const Grant& grant = grants[g];
      const JobIndex job = o.job[At(grant.row)];
      if (kept_[g] != 0) {
        allocation->Add(job, grant.configuration, o.shares_of(grant.row));
      } else if (placer_.Place(o, grant)) {
        allocation->Add(job, grant.configuration, placer_.shares());
      }
    }
  }

 private:
  JobPlacer placer_;
  std::vector<char> kept_;
};

class VictimPlacement : public Placement {
 public:
  explicit VictimPlacement(std::unique_ptr<NodeChooser> chooser) : placer_(std::move(chooser)) {}

  void Place(const Observation& o, std::span<const Grant> grants, Allocation* allocation) override {
    allocation->Clear();
    placer_.Reset(*o.cluster);
    state_.assign(grants.size(), State::kWaiting);
    for (std::size_t g = 0; g < grants.size(); ++g) {
      const bool same = o.running[At(grants[g].row)] == grants[g].configuration;
      if (same && placer_.Keep(o, grants[g].row)) state_[g] = State::kRunning;
    }
    // Nobody in [victims_end, end) runs from before, whatever is placed meanwhile.
    std::size_t victims_end = grants.size();
    std::size_t served = 0;
    for (; served < grants.size(); ++served) {
      const Grant& grant = grants[served];
      const JobIndex job = o.job[At(grant.row)];
      if (state_[served] == State::kRunning) {
        allocation->Add(job, grant.configuration, o.shares_of(grant.row));
        continue;
      }
      bool placed = placer_.Place(o, grant);
      while (!placed && victims_end > served + 1) {
        --victims_end;
        if (state_[victims_end] != State::kRunning) continue;
        placer_.Release(o, grants[victims_end].row);
        state_[victims_end] = State::kStopped;
        placed = placer_.Place(o, grant);
      }
      if (!placed) break;
      allocation->Add(job, grant.configuration, placer_.shares(),
                      state_[served] == State::kStopped);
    }
  }

 private:
  enum class State : char { kWaiting, kRunning, kStopped };
  JobPlacer placer_;
  std::vector<State> state_;
};

}  // namespace

bool JobPlacer::Keep(const Observation& o, std::int32_t row) {
  const auto& kinds = o.table[At(row)]->kinds();
  const auto shares = o.shares_of(row);
  for (std::size_t s = 0; s < shares.size(); ++s) {
    const NodeShare& share = shares[s];
    if (free_.TakeExactly(share.node, share.gpus, DemandOf(kinds, share.units).cpus)) continue;
    while (s-- > 0) {
      free_.Release(shares[s].node, shares[s].gpus, DemandOf(kinds, shares[s].units).cpus);
    }
    return false;
  }
  return true;
}

void JobPlacer::Release(const Observation& o, std::int32_t row) {
  const auto& kinds = o.table[At(row)]->kinds();
  for (const NodeShare& share : o.shares_of(row)) {
    free_.Release(share.node, share.gpus, DemandOf(kinds, share.units).cpus);
  }
}

bool JobPlacer::Place(const Observation& o, const Grant& grant) {
  const ConfigurationTable& table = *o.table[At(grant.row)];
  const Configuration& configuration = table[grant.configuration];
  shares_.clear();
  if (!configuration.demand.FitsIn(free_.total_free(configuration.gpu_type))) return false;

  // The kind that needs most GPUs a unit goes first: it is the hardest to place.
  std::array<std::size_t, kMaxUnitKinds> kinds{};
  for (std::size_t k = 0; k < kinds.size(); ++k) kinds[k] = k;
  static_assert(kMaxUnitKinds == 2);
  if (table.kinds().size() == 2 && table.kinds()[1].demand.gpus > table.kinds()[0].demand.gpus) {
    std::swap(kinds[0], kinds[1]);
  }
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

PlacementInfo ChooserPlacementInfo(std::string id, std::string summary,
                                   std::function<std::unique_ptr<NodeChooser>(const Params&)> make,
                                   std::vector<ParamSpec> params) {
  PlacementInfo info;
  info.id = std::move(id);
  info.summary = std::move(summary);
  info.params = std::move(params);
  info.params.push_back(
      {"victims", "false",
       "serve strictly in order, stopping running jobs from the end of the order"});
  info.make = [make = std::move(make)](const Params& given) -> std::unique_ptr<Placement> {
    if (given.Flag("victims")) return std::make_unique<VictimPlacement>(make(given));
    return std::make_unique<PassingPlacement>(make(given));
  };
  return info;
}

}  // namespace allot
