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
    // First pass: who stays, stays where it is.
    placer_.Keep(o, grants, &kept_);
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
    placer_.Keep(o, grants, &kept_);
    stopped_.clear();
    // Nobody in [victims_end, end) runs from before, whatever is placed meanwhile.
    std::size_t victims_end = grants.size();
    for (std::size_t served = 0; served < grants.size(); ++served) {
      const Grant& grant = grants[served];
      const JobIndex job = o.job[At(grant.row)];
      if (kept_[served] != 0) {
        allocation->Add(job, grant.configuration, o.shares_of(grant.row));
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
      allocation->Add(job, grant.configuration, placer_.shares(), relaunch);
    }
  }

 private:
  JobPlacer placer_;
  std::vector<char> kept_;
  std::vector<std::size_t> stopped_;  // grants
};

}  // namespace

void JobPlacer::Keep(const Observation& o, std::span<const Grant> grants, std::vector<char>* kept) {
  // No decision allocates because its job is the first that spans so many nodes.
  chosen_.reserve(std::min<std::size_t>(kMostReserved, o.cluster->nodes().size()));
  shares_.reserve(chosen_.capacity());
  kept->resize(grants.size());
  const auto stays = [&o](const Grant& grant) {
    return o.running[At(grant.row)] == grant.configuration;
  };
  if (o.free.get() == nullptr) {
    free_.Reset(*o.cluster);
    for (std::size_t g = 0; g < grants.size(); ++g) {
      (*kept)[g] = stays(grants[g]) && KeepRow(o, grants[g].row) ? 1 : 0;
    }
    return;
  }
  // All that run hold what they hold, but for those that do not stay.
  free_.CopyFrom(*o.free.get());
  std::size_t held = 0;
  for (std::size_t g = 0; g < grants.size(); ++g) {
    (*kept)[g] = stays(grants[g]) ? 1 : 0;
    if ((*kept)[g] != 0) held += o.shares_of(grants[g].row).size();
  }
  if (held == o.shares.size()) return;
  stays_.assign(o.job.size(), 0);
  for (std::size_t g = 0; g < grants.size(); ++g) stays_[At(grants[g].row)] = (*kept)[g];
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    if (o.running[At(row)] >= 0 && stays_[At(row)] == 0) Release(o, row);
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
