#include "live/port/node_limits.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/index.h"

namespace allot {
namespace {

class Mover {
 public:
  Mover(const LiveState& state, const HeldGpus& givable, const std::set<NodeIndex>& closed,
        std::vector<GivenPlace>* places)
      : state_(state), closed_(closed), places_(*places), free_(givable) {
    for (const GivenPlace& place : places_) {
      for (const NodeShare& share : place.shares) free_[At(share.node)] &= ~share.gpus;
    }
  }

  void Move(GivenPlace* place) {
    if (place->job->asked->even && !IsEven(place->shares)) {
      if (!Evenly(place)) KeepOrWait(place, "no nodes are left that have as many GPUs each for it");
      return;
    }
    for (NodeShare& share : place->shares) {
      if (MayRun(*place->job, share.node) && !BeginsOnClosed(*place->job, share)) continue;
      if (ToFreeGpus(*place, &share, share.gpus) || WithAnother(*place, &share)) continue;
      if (!place->job->asked->even && Spread(place)) return;
      const std::string& limits = place->job->asked->limits;
      KeepOrWait(place, fmt::format("no GPU is left where it may run ({})",
                                    limits.empty() ? "maintenance is near" : limits));
      return;
    }
  }

  // What it did not hold before, on a node where nothing begins any more.
  bool BeginsOnClosed(const LiveJob& job, const NodeShare& share) const {
    return closed_.contains(share.node) && (share.gpus & ~HeldOn(job, share.node)) != 0;
  }

 private:
  bool MayRun(const LiveJob& job, NodeIndex node) const {
    const auto& only = job.asked->only_on;
    return only.empty() ||
           std::find(only.begin(), only.end(), state_.nodes()[At(node)].name) != only.end();
  }

  static bool Has(const std::vector<NodeShare>& shares, NodeIndex node) {
    return std::any_of(shares.begin(), shares.end(),
                       [&](const NodeShare& share) { return share.node == node; });
  }

  // Other GPUs of the same type for one share of a job: on a node that it has no other share of.
  bool Suits(const GivenPlace& place, const NodeShare& share, NodeIndex node) const {
    const auto& nodes = state_.job_table().nominal().nodes();
    return nodes[At(node)].type == nodes[At(share.node)].type && MayRun(*place.job, node) &&
           !Has(place.shares, node);
  }

  static std::uint64_t HeldOn(const LiveJob& job, NodeIndex node) {
    for (const NodeShare& share : job.shares) {
      if (share.node == node) return share.gpus;
    }
    return 0;
  }

  // GPUs that are free to it.
  std::uint64_t FreeTo(const LiveJob& job, NodeIndex node) const {
    return free_[At(node)] & (closed_.contains(node) ? HeldOn(job, node) : ~std::uint64_t{0});
  }

  // Where it is already, else where the least is left over.
  bool ToFreeGpus(const GivenPlace& place, NodeShare* share, std::uint64_t given_up) {
    const int gpus = std::popcount(share->gpus);
    NodeIndex best = -1;
    const auto left_over = [&](NodeIndex node) {
      const std::uint64_t held = HeldOn(*place.job, node) & free_[At(node)];
      return std::popcount(held) >= gpus ? -1 : std::popcount(FreeTo(*place.job, node)) - gpus;
    };
    for (std::size_t n = 0; n < free_.size(); ++n) {
      const auto node = static_cast<NodeIndex>(n);
      if (std::popcount(FreeTo(*place.job, node)) < gpus || !Suits(place, *share, node)) continue;
      if (best < 0 || left_over(node) < left_over(best)) best = node;
    }
    if (best < 0) return false;
    free_[At(share->node)] |= given_up;
    *share = {best, share->units, Choose(best, gpus, HeldOn(*place.job, best))};
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

  static bool IsEven(const std::vector<NodeShare>& shares) {
    return std::all_of(shares.begin(), shares.end(), [&](const NodeShare& share) {
      return std::popcount(share.gpus) == std::popcount(shares.front().gpus);
    });
  }

  // All of it anew, on as many nodes as it was given or, where that cannot be, on another number.
  bool Evenly(GivenPlace* place) {
    const NodeShare first = place->shares.front();
    const auto given = static_cast<int>(place->shares.size());
    int gpus = 0;
    for (const NodeShare& share : place->shares) {
      gpus += std::popcount(share.gpus);
      free_[At(share.node)] |= share.gpus;
    }
    std::vector<NodeShare> had;
    std::swap(had, place->shares);
    const auto on = [&](int nodes) {
      if (gpus % nodes != 0 || !SpanOf(*place).Holds(std::size_t(nodes))) return false;
      place->shares.clear();
      for (int n = 0; n < nodes; ++n) {
        NodeShare share = {first.node, UnitCounts(gpus / nodes), GpuMask(gpus / nodes)};
        if (!ToFreeGpus(*place, &share, 0)) break;
        place->shares.push_back(share);
      }
      if (static_cast<int>(place->shares.size()) == nodes) return true;
      for (const NodeShare& share : place->shares) free_[At(share.node)] |= share.gpus;
      return false;
    };
    bool done = on(given);
    for (int nodes = 1; nodes <= gpus && !done; ++nodes) done = nodes != given && on(nodes);
    if (done) return true;
    for (const NodeShare& share : had) free_[At(share.node)] &= ~share.gpus;
    std::swap(had, place->shares);
    return false;
  }

  static const Span& SpanOf(const GivenPlace& place) {
    return (*place.job->table)[place.configuration].span;
  }

  // One GPU a worker: over all nodes that may run it, those that it is on first, then those with
  // most GPUs; the most of what it was given that makes a configuration.
  bool Spread(GivenPlace* place) {
    const NodeShare first = place->shares.front();
    std::vector<NodeShare> had;
    std::swap(had, place->shares);
    int most = 0;
    for (const NodeShare& share : had) {
      most += std::popcount(share.gpus);
      free_[At(share.node)] |= share.gpus;
    }
    const std::vector<NodeIndex> nodes = WorthMost(*place, first);
    const ConfigurationTable& table = *place->job->table;
    for (int gpus = most; gpus > 0; --gpus) {
      const auto parts = Parts(*place->job, nodes, gpus);
      const std::int32_t found =
          parts.empty()
              ? -1
              : table.Find(UnitCounts(gpus), table[place->configuration].gpu_type, parts.size());
      if (found < 0) continue;
      place->configuration = found;
      for (const auto& [node, part] : parts) {
        const std::uint64_t chosen = Choose(node, part, HeldOn(*place->job, node));
        place->shares.push_back({node, UnitCounts(part), chosen});
      }
      return true;
    }
    for (const NodeShare& share : had) free_[At(share.node)] &= ~share.gpus;
    std::swap(had, place->shares);
    return false;
  }

  std::vector<NodeIndex> WorthMost(const GivenPlace& place, const NodeShare& like) const {
    std::vector<NodeIndex> nodes;
    for (std::size_t n = 0; n < free_.size(); ++n) {
      const auto node = static_cast<NodeIndex>(n);
      if (FreeTo(*place.job, node) != 0 && Suits(place, like, node)) nodes.push_back(node);
    }
    const auto worth = [&](NodeIndex node) {
      const std::uint64_t free = FreeTo(*place.job, node);
      return std::pair(std::popcount(free & HeldOn(*place.job, node)), std::popcount(free));
    };
    std::stable_sort(nodes.begin(), nodes.end(),
                     [&](NodeIndex a, NodeIndex b) { return worth(a) > worth(b); });
    return nodes;
  }

  // So many free GPUs from the first nodes on; none where there are fewer.
  std::vector<std::pair<NodeIndex, int>> Parts(const LiveJob& job,
                                               const std::vector<NodeIndex>& nodes,
                                               int gpus) const {
    std::vector<std::pair<NodeIndex, int>> parts;
    for (const NodeIndex node : nodes) {
      const int part = std::min(gpus, std::popcount(FreeTo(job, node)));
      if (part > 0) parts.emplace_back(node, part);
      gpus -= part;
    }
    if (gpus > 0) parts.clear();
    return parts;
  }

  // One that would begin there just as well elsewhere; or of a node where nothing begins the one
  // that gives these GPUs up, which keeps them and gives up others.
  bool WithAnother(const GivenPlace& place, NodeShare* share) {
    const bool closed = closed_.contains(share->node);
    for (GivenPlace& other : places_) {
      if (other.job == place.job) continue;
      for (NodeShare& its : other.shares) {
        const bool may = closed ? (share->gpus & ~HeldOn(*other.job, share->node)) == 0
                                : (HeldOn(*other.job, its.node) & its.gpus) == 0;
        if (!may || closed_.contains(its.node) ||
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

  // What it holds, where nobody else was given that.
  void KeepOrWait(GivenPlace* place, std::string why) {
    for (const NodeShare& given : place->shares) free_[At(given.node)] |= given.gpus;
    place->placed = false;
    place->why = std::move(why);
    place->shares.assign(place->job->shares.begin(), place->job->shares.end());
    const bool free = std::all_of(
        place->shares.begin(), place->shares.end(),
        [&](const NodeShare& share) { return (share.gpus & ~free_[At(share.node)]) == 0; });
    if (!free) place->shares.clear();
    for (const NodeShare& share : place->shares) free_[At(share.node)] &= ~share.gpus;
  }

  const LiveState& state_;
  const std::set<NodeIndex>& closed_;
  std::vector<GivenPlace>& places_;
  HeldGpus free_;
};

}  // namespace

void KeepToTheirNodes(const LiveState& state, const HeldGpus& givable,
                      const std::set<NodeIndex>& closed, std::vector<GivenPlace>* places) {
  Mover mover(state, givable, closed, places);
  const auto limited = [&](const GivenPlace& place) {
    return !place.job->asked->only_on.empty() ||
           (place.job->asked->even && place.shares.size() > 1) ||
           std::any_of(place.shares.begin(), place.shares.end(), [&](const NodeShare& share) {
             return mover.BeginsOnClosed(*place.job, share);
           });
  };
  if (std::none_of(places->begin(), places->end(), limited)) return;
  for (GivenPlace& place : *places) {
    if (limited(place)) mover.Move(&place);
  }
  for (GivenPlace& place : *places) {
    std::sort(place.shares.begin(), place.shares.end(),
              [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; });
  }
}

}  // namespace allot
