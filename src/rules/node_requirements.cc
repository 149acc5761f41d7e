#include "rules/node_requirements.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "core/index.h"

namespace allot {
namespace {

// What an answer gives one job that policies see.
struct Place {
  std::size_t row = 0;
  Allocation::Entry entry{};
  std::vector<NodeShare> shares{};
  std::string unplaced{};  // why it keeps what it has, or waits; "": it is placed
};

class Mover {
 public:
  Mover(const Observation& all, const Constraints& constraints, const ConstrainedView& view,
        std::vector<Place>* places)
      : all_(all), constraints_(constraints), places_(*places) {
    for (std::size_t n = 0; n < all.cluster->nodes().size(); ++n) {
      free_.push_back(view.GivableOn(static_cast<NodeIndex>(n)));
    }
    for (const Place& place : places_) Occupy(place.shares);
  }

  bool IsLimited(const Place& place) const {
    const NodeRequirements& required = RequirementsOf(place);
    return required.only_on != nullptr || (required.even && place.shares.size() > 1) ||
           std::any_of(place.shares.begin(), place.shares.end(),
                       [&](const NodeShare& share) { return StartsOnClosed(place, share); });
  }

  void Move(Place* place) {
    const NodeRequirements& required = RequirementsOf(*place);
    if (required.even && !IsEven(place->shares)) {
      if (!Evenly(place)) KeepOrWait(place, "no nodes are left that have as many GPUs each for it");
      return;
    }
    for (NodeShare& share : place->shares) {
      if (MayRun(*place, share.node) && !StartsOnClosed(*place, share)) continue;
      if (ToFreeGpus(*place, &share, share.gpus) || WithAnother(*place, &share)) continue;
      if (!required.even && Spread(place)) return;
      KeepOrWait(place, fmt::format("no GPU is left where it may run ({})", WhyNot(required)));
      return;
    }
  }

 private:
  const NodeRequirements& RequirementsOf(const Place& place) const {
    static const NodeRequirements no_requirements;
    return constraints_.nodes_of.empty() ? no_requirements : constraints_.nodes_of[place.row];
  }

  static std::string WhyNot(const NodeRequirements& required) {
    if (!required.request.empty()) return required.request;
    return required.avoided.empty() ? "nothing starts on the other nodes"
                                    : "it avoids nodes where it did not start or failed";
  }

  bool IsClosed(NodeIndex node) const { return constraints_.UseOf(node) == NodeUse::kNoStarts; }
  bool IsClosedTo(const Place& place, NodeIndex node) const {
    const auto& avoided = RequirementsOf(place).avoided;
    return IsClosed(node) || std::find(avoided.begin(), avoided.end(), node) != avoided.end();
  }

  // GPUs that the job did not have before, on a node where nothing, or not this job, starts.
  bool StartsOnClosed(const Place& place, const NodeShare& share) const {
    return IsClosedTo(place, share.node) && (share.gpus & ~GpusBefore(place, share.node)) != 0;
  }

  bool MayRun(const Place& place, NodeIndex node) const {
    const auto& only = RequirementsOf(place).only_on;
    return only == nullptr ||
           std::find(only->begin(), only->end(), constraints_.node_names[At(node)]) != only->end();
  }

  GpuTypeIndex TypeOf(NodeIndex node) const { return all_.cluster->nodes()[At(node)].type; }

  // Whether other GPUs of the same type serve for one share of a job: on a node that it has no
  // other share of.
  bool Suits(const Place& place, const NodeShare& share, NodeIndex node) const {
    return TypeOf(node) == TypeOf(share.node) && MayRun(place, node) &&
           std::none_of(place.shares.begin(), place.shares.end(),
                        [&](const NodeShare& other) { return other.node == node; });
  }

  const ConfigurationTable& TableOf(const Place& place) const { return *all_.table[place.row]; }

  std::span<const NodeShare> SharesBefore(const Place& place) const {
    return all_.shares_of(static_cast<std::int32_t>(place.row));
  }

  std::uint64_t GpusBefore(const Place& place, NodeIndex node) const {
    for (const NodeShare& share : SharesBefore(place)) {
      if (share.node == node) return share.gpus;
    }
    return 0;
  }

  // GPUs that are free to the job.
  std::uint64_t FreeTo(const Place& place, NodeIndex node) const {
    return free_[At(node)] &
           (IsClosedTo(place, node) ? GpusBefore(place, node) : ~std::uint64_t{0});
  }

  // Chooses the node where the job is already, else the one where the least is left over.
  bool ToFreeGpus(const Place& place, NodeShare* share, std::uint64_t given_up) {
    const int gpus = std::popcount(share->gpus);
    NodeIndex best = -1;
    const auto left_over = [&](NodeIndex node) {
      const std::uint64_t held = GpusBefore(place, node) & free_[At(node)];
      return std::popcount(held) >= gpus ? -1 : std::popcount(FreeTo(place, node)) - gpus;
    };
    for (std::size_t n = 0; n < free_.size(); ++n) {
      const auto node = static_cast<NodeIndex>(n);
      if (std::popcount(FreeTo(place, node)) < gpus || !Suits(place, *share, node)) continue;
      if (best < 0 || left_over(node) < left_over(best)) best = node;
    }
    if (best < 0) return false;
    free_[At(share->node)] |= given_up;
    *share = {best, share->units, Choose(best, gpus, GpusBefore(place, best))};
    return true;
  }

  // Takes free GPUs of a node: the ones that the job holds first.
  std::uint64_t Choose(NodeIndex node, int gpus, std::uint64_t held) {
    std::uint64_t& free = free_[At(node)];
    std::uint64_t chosen = 0;
    for (; gpus > 0; --gpus) {
      const std::uint64_t from = (free & held) != 0 ? free & held : free;
      chosen |= from & -from;
      free &= ~(from & -from);
    }
    return chosen;
  }

  static int GpusIn(const std::vector<NodeShare>& shares) {
    int gpus = 0;
    for (const NodeShare& share : shares) gpus += std::popcount(share.gpus);
    return gpus;
  }

  static bool IsEven(const std::vector<NodeShare>& shares) {
    return std::all_of(shares.begin(), shares.end(), [&](const NodeShare& share) {
      return std::popcount(share.gpus) == std::popcount(shares.front().gpus);
    });
  }

  // Places the whole job anew, on as many nodes as it was given or, where that cannot be, on
  // another number.
  bool Evenly(Place* place) {
    const std::vector<NodeShare> had = place->shares;
    Release(had);
    const int gpus = GpusIn(had);
    const auto on = [&](const Span& span, NodeIndex like, std::size_t nodes) {
      const int each = gpus / static_cast<int>(nodes);
      if (each * static_cast<int>(nodes) != gpus || !span.Holds(nodes)) return false;
      place->shares.clear();
      while (place->shares.size() < nodes) {
        NodeShare share = {like, UnitCounts(each), GpuMask(each)};
        if (!ToFreeGpus(*place, &share, 0)) {
          Release(place->shares);
          return false;
        }
        place->shares.push_back(share);
      }
      return true;
    };
    const bool done = OnSomeType(place, had, [&](std::int32_t configuration, NodeIndex like) {
      const Span& span = TableOf(*place)[configuration].span;
      bool placed = on(span, like, had.size());
      for (std::size_t nodes = 1; nodes <= At(gpus) && !placed; ++nodes) {
        placed = nodes != had.size() && on(span, like, nodes);
      }
      if (placed) place->entry.configuration = configuration;
      return placed;
    });
    if (!done) Occupy(place->shares = had);
    return done;
  }

  // Spreads workers of one GPU each over all nodes that may run the job: those that it is on first,
  // then those with most GPUs; as many GPUs of those given as make a configuration.
  bool Spread(Place* place) {
    const std::vector<NodeShare> had = std::exchange(place->shares, {});
    Release(had);
    const ConfigurationTable& table = TableOf(*place);
    const bool done = OnSomeType(place, had, [&](std::int32_t configuration, NodeIndex like) {
      const GpuTypeIndex type = table[configuration].gpu_type;
      const std::vector<NodeIndex> nodes = WorthMost(*place, {like, {}, 0});
      for (int gpus = GpusIn(had); gpus > 0; --gpus) {
        const auto parts = Parts(*place, nodes, gpus);
        if (parts.empty()) continue;
        const std::int32_t found = table.Find(UnitCounts(gpus), type, parts.size());
        if (found < 0) continue;
        place->entry.configuration = found;
        for (const auto& [node, part] : parts) {
          const std::uint64_t chosen = Choose(node, part, GpusBefore(*place, node));
          place->shares.push_back({node, UnitCounts(part), chosen});
        }
        return true;
      }
      return false;
    });
    if (!done) Occupy(place->shares = had);
    return done;
  }

  // try_on(configuration, a node of its type) of the configuration given, then, for a job that
  // waits, on the other types that it accepts, the fastest first: policies do not know where the
  // job may run, and may name a type for ever of which no node is left to it.
  template <typename TryOn>
  bool OnSomeType(Place* place, const std::vector<NodeShare>& had, const TryOn& try_on) const {
    const std::int32_t given = place->entry.configuration;
    if (try_on(given, had.front().node)) return true;
    if (!SharesBefore(*place).empty()) return false;
    const ConfigurationTable& table = TableOf(*place);
    for (const GpuTypeIndex type : table.types()) {
      const std::int32_t other = type == table[given].gpu_type ? -1 : table.OnType(given, type);
      if (other < 0 || !table.Allocatable(other)) continue;
      for (std::size_t n = 0; n < free_.size(); ++n) {
        const auto node = static_cast<NodeIndex>(n);
        if (TypeOf(node) != type) continue;
        if (try_on(other, node)) return true;
        break;  // the next type
      }
    }
    return false;
  }

  std::vector<NodeIndex> WorthMost(const Place& place, const NodeShare& like) const {
    std::vector<NodeIndex> nodes;
    for (std::size_t n = 0; n < free_.size(); ++n) {
      const auto node = static_cast<NodeIndex>(n);
      if (FreeTo(place, node) != 0 && Suits(place, like, node)) nodes.push_back(node);
    }
    const auto worth = [&](NodeIndex node) {
      const std::uint64_t free = FreeTo(place, node);
      return std::pair(std::popcount(free & GpusBefore(place, node)), std::popcount(free));
    };
    std::stable_sort(nodes.begin(), nodes.end(),
                     [&](NodeIndex a, NodeIndex b) { return worth(a) > worth(b); });
    return nodes;
  }

  // So many free GPUs from the first nodes on; none where there are fewer.
  std::vector<std::pair<NodeIndex, int>> Parts(const Place& place,
                                               const std::vector<NodeIndex>& nodes,
                                               int gpus) const {
    std::vector<std::pair<NodeIndex, int>> parts;
    for (const NodeIndex node : nodes) {
      const int part = std::min(gpus, std::popcount(FreeTo(place, node)));
      if (part > 0) parts.emplace_back(node, part);
      gpus -= part;
    }
    if (gpus > 0) parts.clear();
    return parts;
  }

  // One that would begin there just as well elsewhere; or of a node where nothing begins the one
  // that gives these GPUs up, which keeps them and gives up others.
  bool WithAnother(const Place& place, NodeShare* share) {
    const bool closed = IsClosed(share->node);
    for (Place& other : places_) {
      if (other.row == place.row) continue;
      for (NodeShare& its : other.shares) {
        const bool may = closed ? (share->gpus & ~GpusBefore(other, share->node)) == 0
                                : (GpusBefore(other, its.node) & its.gpus) == 0;
        if (!may || IsClosedTo(place, its.node) || (!closed && IsClosedTo(other, share->node)) ||
            std::popcount(its.gpus) != std::popcount(share->gpus) ||
            !Suits(place, *share, its.node) || !Suits(other, its, share->node)) {
          continue;
        }
        std::swap(its, *share);
        return true;
      }
    }
    return false;
  }

  // The job keeps what it has, where nobody else was given that.
  void KeepOrWait(Place* place, std::string why) {
    Release(place->shares);
    place->unplaced = std::move(why);
    place->entry.configuration = all_.running[place->row];
    const auto before = SharesBefore(*place);
    place->shares.assign(before.begin(), before.end());
    const bool free = std::all_of(before.begin(), before.end(), [&](const NodeShare& share) {
      return (share.gpus & ~free_[At(share.node)]) == 0;
    });
    if (!free) place->shares.clear();
    Occupy(place->shares);
  }

  void Occupy(const std::vector<NodeShare>& shares) {
    for (const NodeShare& share : shares) free_[At(share.node)] &= ~share.gpus;
  }
  void Release(const std::vector<NodeShare>& shares) {
    for (const NodeShare& share : shares) free_[At(share.node)] |= share.gpus;
  }

  const Observation& all_;
  const Constraints& constraints_;
  std::vector<Place>& places_;
  std::vector<std::uint64_t> free_;  // by node: GPUs that no job of the answer has
};

// The entries of jobs that policies see, which come first.
std::vector<Place> PlacesIn(const Observation& all, const ConstrainedView& view,
                            const Allocation& answer) {
  std::vector<Place> places;
  for (const Allocation::Entry& entry : answer.entries()) {
    const auto row = std::lower_bound(all.job.begin(), all.job.end(), entry.job) - all.job.begin();
    if (view.hidden()[static_cast<std::size_t>(row)]) break;
    const auto shares = answer.shares(entry);
    places.push_back({static_cast<std::size_t>(row), entry,
                      std::vector<NodeShare>(shares.begin(), shares.end())});
  }
  return places;
}

}  // namespace

void KeepNodeRequirements(const Observation& all, const Constraints& constraints,
                          const ConstrainedView& view, Allocation* answer,
                          std::vector<Corrections::Unplaced>* unplaced) {
  const auto& use = constraints.node_use;
  const bool closed = std::find(use.begin(), use.end(), NodeUse::kNoStarts) != use.end();
  if ((constraints.nodes_of.empty() && !closed) || answer->has_partners()) return;
  std::vector<Place> places = PlacesIn(all, view, *answer);
  Mover mover(all, constraints, view, &places);
  const auto limited = [&](const Place& place) { return mover.IsLimited(place); };
  if (std::none_of(places.begin(), places.end(), limited)) return;
  for (Place& place : places) {
    if (limited(place)) mover.Move(&place);
  }
  Allocation moved;
  if (answer->requested_batches()) moved.KeepRequestedBatches();
  for (Place& place : places) {
    if (!place.unplaced.empty()) {
      const bool avoids =
          !constraints.nodes_of.empty() && !constraints.nodes_of[place.row].avoided.empty();
      unplaced->push_back({place.entry.job, std::move(place.unplaced), avoids});
    }
    if (place.shares.empty()) continue;
    std::sort(place.shares.begin(), place.shares.end(),
              [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; });
    moved.Add(place.entry.job, place.entry.configuration, place.shares, place.entry.relaunch);
    moved.SetShare(moved.entries().size() - 1, place.entry.share);
  }
  for (std::size_t hidden = places.size(); hidden < answer->entries().size(); ++hidden) {
    const Allocation::Entry& entry = answer->entries()[hidden];
    moved.Add(entry.job, entry.configuration, answer->shares(entry));
  }
  *answer = std::move(moved);
}

}  // namespace allot
