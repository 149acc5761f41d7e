#include "stages/fill/placer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cluster/running_rows.h"
#include "core/check.h"
#include "core/error.h"
#include "core/index.h"
#include "sched/incremental_stages.h"

namespace allot {
namespace {

// Serves grants with a placer. As changes, who keeps what it runs on is not listed.
class ServingPlacement : public Placement, public IncrementalPlacement {
 public:
  explicit ServingPlacement(std::unique_ptr<NodeChooser> chooser) : placer_(std::move(chooser)) {}

  void Place(const Observation& o, std::span<const Grant> grants, Allocation* allocation) final {
    allocation->Clear();
    lists_kept_ = true;
    placer_.Keep(o, grants, &kept_);
    Serve(o, grants, allocation);
  }

  IncrementalPlacement* incremental() final { return this; }
  void PlaceChanges(const Observation& o, std::span<const Grant> grants,
                    AllocationChanges* changes) final {
    ALLOT_CHECK(o.free.has_value());  // else what runs need not hold what it says
    changes->Clear();
    lists_kept_ = false;
    placer_.Keep(o, grants, &kept_);
    Serve(o, grants, &changes->given);
    placer_.FindStopped(o, &changes->stopped);
  }

 protected:
  virtual void Serve(const Observation& o, std::span<const Grant> grants,
                     Allocation* allocation) = 0;

  void Go(const Observation& o, const Grant& grant, Allocation* allocation) const {
    if (!lists_kept_) return;
    allocation->Add(o.job[At(grant.row)], grant.configuration, o.shares_of(grant.row), false,
                    o.partner_of(grant.row));
  }

  JobPlacer placer_;
  std::vector<char> kept_;  // by grant: who stays, stays where it is

 private:
  bool lists_kept_ = true;
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
        allocation->Add(o.job[At(grants[g].row)], placer_.configuration(), placer_.shares());
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
      allocation->Add(o.job[At(grant.row)], placer_.configuration(), placer_.shares(), relaunch);
    }
  }

 private:
  std::vector<std::size_t> stopped_;  // grants
};

class AnewPlacement : public Placement {
 public:
  explicit AnewPlacement(std::unique_ptr<NodeChooser> chooser) : placer_(std::move(chooser)) {}

  void Place(const Observation& o, std::span<const Grant> grants, Allocation* allocation) override {
    allocation->Clear();
    placer_.FreeAll(o);
    for (const Grant& grant : grants) {
      if (!placer_.Place(o, grant)) break;
      allocation->Add(o.job[At(grant.row)], placer_.configuration(), placer_.shares());
    }
  }

 private:
  JobPlacer placer_;
};

}  // namespace

void JobPlacer::FreeAll(const Observation& o) {
  free_.Reset(*o.cluster);
  released_.clear();
  stays_.clear();
}

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
  ForEachRunningRow(o.running, 0, o.rows(), [&](std::int32_t row) {
    if (stays_[At(row)] == 0) {
      held += o.shares_of(row).size();
      Release(o, row);
    }
    return held < o.shares.size();
  });
}

void JobPlacer::FindStopped(const Observation& o, std::vector<JobIndex>* jobs) const {
  for (const std::int32_t row : released_) {
    if (stays_[At(row)] == 0) jobs->push_back(o.job[At(row)]);
  }
}

bool JobPlacer::KeepRow(const Observation& o, std::int32_t row) {
  const auto& kinds = o.table[At(row)]->kinds();
  const auto shares = o.shares_of(row);
  for (std::size_t s = 0; s < shares.size(); ++s) {
    const NodeShare& share = shares[s];
    const Resources demand = DemandOf(kinds, share.units);
    if (free_.TakeExactly(share.node, share.gpus, demand)) continue;
    if (o.partner_of(row) != kAlone && free_.Join(share.node, share.gpus, demand)) continue;
    while (s-- > 0) {
      free_.Release(shares[s].node, shares[s].gpus, DemandOf(kinds, shares[s].units));
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
    free_.Release(share.node, share.gpus, DemandOf(kinds, share.units));
  }
}

bool JobPlacer::Place(const Observation& o, const Grant& grant) {
  const bool placed = PlaceAs(o, grant.row, grant.configuration) ||
                      (o.table[At(grant.row)]->has_spans() && PlaceWithOtherSpan(o, grant));
  if (placed && At(grant.row) < stays_.size()) stays_[At(grant.row)] = 1;
  return placed;
}

bool JobPlacer::PlaceWithOtherSpan(const Observation& o, const Grant& grant) {
  const ConfigurationTable& table = *o.table[At(grant.row)];
  const Configuration& granted = table[grant.configuration];
  const std::int32_t running = o.running[At(grant.row)];
  const bool alike = running >= 0 && running != grant.configuration &&
                     table.SameUnits(running, grant.configuration) &&
                     table[running].gpu_type == granted.gpu_type &&
                     table[running].partner == kNoPartner;
  if (alike && KeepRow(o, grant.row)) {
    const auto held = o.shares_of(grant.row);
    shares_.assign(held.begin(), held.end());
    configuration_ = running;
    return true;
  }
  std::int32_t other = table.OnType(grant.configuration, granted.gpu_type);
  for (; other >= 0; other = table.Slower(other)) {
    if (other != grant.configuration && PlaceAs(o, grant.row, other)) return true;
  }
  return false;
}

void JobPlacer::GiveBack(const std::vector<UnitKind>& kinds) {
  for (const NodeShare& share : shares_) {
    free_.Release(share.node, share.gpus, DemandOf(kinds, share.units));
  }
  shares_.clear();
}

bool JobPlacer::PlaceAs(const Observation& o, std::int32_t row, std::int32_t index) {
  const ConfigurationTable& table = *o.table[At(row)];
  const Configuration& configuration = table[index];
  shares_.clear();
  configuration_ = index;
  if (!free_.totals().Fits(configuration)) return false;
  // Who shares GPUs is placed with its partner, which is not done here.
  if (configuration.partner != kNoPartner) return false;

  // The kind that needs most GPUs a unit goes first: it is the hardest to place.
  std::array<std::size_t, kMaxUnitKinds> kinds{};
  for (std::size_t k = 0; k < kinds.size(); ++k) kinds[k] = k;
  static_assert(kMaxUnitKinds == 2);
  if (table.kinds().size() == 2 && table.kinds()[1].demand.gpus > table.kinds()[0].demand.gpus) {
    std::swap(kinds[0], kinds[1]);
  }
  for (std::size_t i = 0; i < table.kinds().size(); ++i) {
    const std::size_t kind = kinds[i];
    const std::int32_t count = configuration.units.of(kind);
    if (count == 0) continue;
    const Resources& demand = table.kinds()[kind].demand;
    if (!ChooseFor(o, row, configuration, demand, count)) {
      GiveBack(table.kinds());
      return false;
    }
    for (const UnitShare& unit_share : chosen_) {
      NodeShare share;
      share.node = unit_share.node;
      share.units.Set(kind, unit_share.units);
      const Resources taken = demand * unit_share.units;
      share.gpus = unit_share.gpus;
      if (share.gpus == 0) {
        share.gpus = free_.Take(share.node, taken);
      } else {
        ALLOT_CHECK(free_.TakeExactly(share.node, share.gpus, taken));
      }
      const auto same = std::find_if(shares_.begin(), shares_.end(),
                                     [&](const NodeShare& s) { return s.node == share.node; });
      if (same == shares_.end()) {
        shares_.push_back(share);
      } else {
        same->units += share.units;
        same->gpus |= share.gpus;
      }
    }
  }
  if (!configuration.span.Holds(shares_.size())) {
    GiveBack(table.kinds());
    return false;
  }
  std::sort(shares_.begin(), shares_.end(),
            [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; });
  return true;
}

// Nodes for the units of one kind, into chosen_.
bool JobPlacer::ChooseFor(const Observation& o, std::int32_t row,
                          const Configuration& configuration, const Resources& unit_demand,
                          std::int32_t count) {
  chosen_.clear();
  const bool any = configuration.span.any();
  if (!any &&
      !free_.HasRoom(configuration.gpu_type, unit_demand.gpus * count, configuration.span)) {
    return false;
  }
  chooser_->Begin(o, row);
  const bool chosen = chooser_->Choose(*o.cluster, free_, configuration.gpu_type, unit_demand,
                                       count, o.shares_of(row), &chosen_);
  if (any || o.table[At(row)]->kinds().size() > 1) return chosen;
  if (chosen && configuration.span.Holds(chosen_.size())) return true;
  return ChooseWithin(*o.cluster, configuration, unit_demand, count);
}

// The fewest nodes that the span allows: the tightest where one is enough, else the emptiest, with
// a unit on each at least.
bool JobPlacer::ChooseWithin(const ClusterSpec& cluster, const Configuration& configuration,
                             const Resources& unit_demand, std::int32_t count) {
  chosen_.clear();
  for (NodeIndex node = 0; node < static_cast<NodeIndex>(cluster.nodes().size()); ++node) {
    if (cluster.nodes()[At(node)].type != configuration.gpu_type) continue;
    const std::int32_t units = free_.Capacity(node, unit_demand, count);
    if (units > 0) chosen_.push_back({node, units});
  }
  std::stable_sort(chosen_.begin(), chosen_.end(),
                   [](const UnitShare& a, const UnitShare& b) { return a.units > b.units; });
  const Span& span = configuration.span;
  std::size_t nodes = 0;
  std::int32_t room = 0;
  while (nodes < chosen_.size() && (nodes < At(span.least) || room < count)) {
    room = std::min(count, room + chosen_[nodes++].units);
  }
  if (room < count || !span.Holds(nodes) || nodes > At(count)) return false;
  if (nodes == 1) {
    // Capacities are cut at `count`, so that the tightest is found by what is free.
    const UnitShare* tightest = &chosen_.front();
    for (const UnitShare& each : chosen_) {
      if (each.units < count) break;
      if (free_.free_gpus(each.node) < free_.free_gpus(tightest->node)) tightest = &each;
    }
    chosen_ = {{tightest->node, count}};
    return true;
  }
  chosen_.resize(nodes);
  for (std::size_t i = 0; i < nodes; ++i) {
    const auto others = static_cast<std::int32_t>(nodes - i - 1);
    chosen_[i].units = std::min(chosen_[i].units, count - others);
    count -= chosen_[i].units;
  }
  return true;
}

PlacementInfo ChooserPlacementInfo(std::string id, std::string summary,
                                   std::function<std::unique_ptr<NodeChooser>(const Params&)> make,
                                   std::vector<ParamSpec> params) {
  PlacementInfo info;
  info.id = std::move(id);
  info.summary = std::move(summary);
  info.repeats = true;
  info.rates = RatesRead::kNone;
  info.params = std::move(params);
  info.params.push_back(
      {"victims", "false",
       "serve jobs strictly in order; stop running jobs from the end of the order to make room"});
  info.params.push_back({"anew", "false", "place all jobs anew, strictly in order"});
  info.make = [id = info.id,
               make = std::move(make)](const Params& given) -> std::unique_ptr<Placement> {
    const bool victims = given.Flag("victims");
    const bool anew = given.Flag("anew");
    if (victims && anew) {
      throw UsageError("placement '{}': only one of 'victims' and 'anew' may be true, got both",
                       id);
    }
    if (victims) return std::make_unique<VictimPlacement>(make(given));
    if (anew) return std::make_unique<AnewPlacement>(make(given));
    return std::make_unique<PassingPlacement>(make(given));
  };
  return info;
}

}  // namespace allot
