#include "stages/placer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/index.h"

namespace allot {
namespace {

// Serves grants with a placer. As changes, who keeps what it runs on is not listed.
class ServingPlacement : public Placement {
 public:
  explicit ServingPlacement(std::unique_ptr<NodeChooser> chooser) : placer_(std::move(chooser)) {}

  void Place(const Observation& o, std::span<const Grant> grants, Allocation* allocation) final {
    allocation->Clear();
    placer_.Keep(o, grants, &kept_);
    Serve(o, grants, allocation);
  }

  void PlaceChanges(const Observation& o, std::span<const Grant> grants,
                    Allocation* allocation) final {
    // Without a map what runs need not hold what it says.
    if (!o.free.has_value()) return Place(o, grants, allocation);
    allocation->Clear();
    allocation->BecomeChanges();
    placer_.Keep(o, grants, &kept_);
    Serve(o, grants, allocation);
    placer_.StopReleased(o, allocation);
  }

 protected:
  virtual void Serve(const Observation& o, std::span<const Grant> grants,
                     Allocation* allocation) = 0;

  static void Go(const Observation& o, const Grant& grant, Allocation* allocation) {
    if (allocation->is_changes()) return;
    allocation->Add(o.job[At(grant.row)], grant.configuration, o.shares_of(grant.row));
  }

  JobPlacer placer_;
  std::vector<char> kept_;  // by grant: who stays, stays where it is
};

class PassingPlacement : public ServingPlacement {
 public:
  using ServingPlacement::ServingPlacement;

 protected:
  void Serve(const Observation& o, std::span<const Grant> grants, Allocation* allocation) override {
    for (std::size_t g = 0; g < grants.size(); ++g) {
      if (kept_[g] != 0) {
        Go(o, grants[g], allocation);
      } else if (placer_.Place(o, grants[g])) {
        allocation->Add(o.job[At(grants[g].row)], grants[g].configuration, placer_.shares());
      }
    }
  }
};

class VictimPlacement : public ServingPlacement {
 public:
  using ServingPlacement::ServingPlacement;

 protected:
  void Serve(const Observation& o, std::span<const Grant> grants, Allocation* allocation) override {
    stopped_.clear();
    // Nobody in [victims_end, end) runs from before, whatever is placed meanwhile.
    std::size_t victims_end = grants.size();
    for (std::size_t served = 0; served < grants.size(); ++served) {
      const Grant& grant = grants[served];
      if (kept_[served] != 0) {
        Go(o, grant, allocation);
        continue;
      }
      bool placed = placer_.Place(o, grant);
      while (!placed && victims_end > served + 1) {
        --victims_end;
        if (kept_[victims_end] == 0) continue;
        placer_.Release(o, grants[victims_end].row);
        kept_[victims_end] = 0;
        stopped_.push_back(victims_end);
        placed = placer_.Place(o, grant);
      }
      if (!placed) break;
      const bool relaunch =
          std::find(stopped_.begin(), stopped_.end(), served) != stopped_.end();  // few
      allocation->Add(o.job[At(grant.row)], grant.configuration, placer_.shares(), relaunch);
    }
  }

 private:
  std::vector<std::size_t> stopped_;  // grants
};

}  // namespace

void JobPlacer::Keep(const Observation& o, std::span<const Grant> grants, std::vector<char>* kept) {
  // No decision allocates because its job is the first that spans so many nodes, or because it
  // releases more jobs than any before.
  chosen_.reserve(std::min<std::size_t>(kMostReserved, o.cluster->nodes().size()));
  shares_.reserve(chosen_.capacity());
  released_.reserve(o.job.size());
  kept->resize(grants.size());
  released_.clear();
  const auto stays = [&o](const Grant& grant) {
    return o.running[At(grant.row)] == grant.configuration;
  };
  if (!o.free.has_value()) {
    free_.Reset(*o.cluster);
    for (std::size_t g = 0; g < grants.size(); ++g) {
      (*kept)[g] = stays(grants[g]) && KeepRow(o, grants[g].row) ? 1 : 0;
    }
    return;
  }
  // All that run hold what they hold, but for those that do not stay.
  free_.CopyFrom(*o.free);
  std::size_t held = 0;
  for (std::size_t g = 0; g < grants.size(); ++g) {
    (*kept)[g] = stays(grants[g]) ? 1 : 0;
    if ((*kept)[g] != 0) held += o.shares_of(grants[g].row).size();
  }
  if (held == o.shares.size()) return;
  stays_.assign(o.job.size(), 0);
  for (std::size_t g = 0; g < grants.size(); ++g) stays_[At(grants[g].row)] = (*kept)[g];
  for (std::int32_t row = 0; held < o.shares.size(); ++row) {
    if (o.running[At(row)] < 0 || stays_[At(row)] != 0) continue;
    held += o.shares_of(row).size();
    Release(o, row);
  }
}

void JobPlacer::StopReleased(const Observation& o, Allocation* allocation) const {
  for (const std::int32_t row : released_) {
    if (stays_[At(row)] == 0) allocation->Stop(o.job[At(row)]);
  }
}

bool JobPlacer::KeepRow(const Observation& o, std::int32_t row) {
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
  if (stays_.size() < o.job.size()) stays_.resize(o.job.size());
  stays_[At(row)] = 0;
  released_.push_back(row);
  const auto& kinds = o.table[At(row)]->kinds();
  for (const NodeShare& share : o.shares_of(row)) {
    free_.Release(share.node, share.gpus, DemandOf(kinds, share.units).cpus);
  }
}

bool JobPlacer::Place(const Observation& o, const Grant& grant) {
  const ConfigurationTable& table = *o.table[At(grant.row)];
  const Configuration& configuration = table[grant.configuration];
  shares_.clear();
  if (!free_.totals().Fits(configuration)) return false;

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
  if (At(grant.row) < stays_.size()) stays_[At(grant.row)] = 1;
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
       "serve jobs strictly in order; stop running jobs from the end of the order to make room"});
  info.make = [make = std::move(make)](const Params& given) -> std::unique_ptr<Placement> {
    if (given.Flag("victims")) return std::make_unique<VictimPlacement>(make(given));
    return std::make_unique<PassingPlacement>(make(given));
  };
  return info;
}

}  // namespace allot
