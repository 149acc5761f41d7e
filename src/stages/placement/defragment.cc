// One node a job, and room made for it: a job that would fit in the sum of what is free but on no
// node gets one that is cleared by moving running jobs to other nodes (consolidation by migration,
// as in Gandiva: Xiao et al., OSDI'18, section 3.2). At most `moves` jobs move per decision, each
// once and only where the move serves a waiting job at once; a move costs its job a restart. Jobs
// larger than any node take the emptiest nodes.
//
// Cleared is the node that lacks fewest GPUs; what moves is the smallest job that suffices, else
// the largest, to the tightest node that holds it. Jobs that span nodes and jobs of several kinds
// of units are not moved, nor is room made for these.

#include <algorithm>

#include "core/index.h"
#include "stages/fill/placer.h"

namespace allot {
namespace {

// The tightest node that holds all; only where even an empty one would not, the emptiest nodes.
class OneNodeChooser : public NodeChooser {
 public:
  bool Choose(const ClusterSpec& cluster, FreeMap& free, GpuTypeIndex type,
              const Resources& unit_demand, std::int32_t count, std::span<const NodeShare>,
              std::vector<UnitShare>* chosen) override {
    nodes_.clear();
    bool one_could = false;
    for (NodeIndex node = 0; node < static_cast<NodeIndex>(cluster.nodes().size()); ++node) {
      const Node& spec = cluster.nodes()[At(node)];
      if (spec.type != type) continue;
      one_could = one_could || (unit_demand * count).FitsIn(spec.capacity);
      const std::int32_t units =
          free.Capacity(node, unit_demand, spec.capacity.gpus + spec.capacity.cpus);
      if (units > 0) nodes_.push_back({node, units});
    }
    std::sort(nodes_.begin(), nodes_.end(), [](const UnitShare& a, const UnitShare& b) {
      return a.units != b.units ? a.units < b.units : a.node < b.node;
    });
    for (const UnitShare& share : nodes_) {
      if (share.units < count) continue;
      chosen->push_back({share.node, count});
      return true;
    }
    if (one_could) return false;
    for (auto share = nodes_.rbegin(); share != nodes_.rend() && count > 0; ++share) {
      chosen->push_back({share->node, std::min(count, share->units)});
      count -= chosen->back().units;
    }
    return count == 0;
  }

 private:
  std::vector<UnitShare> nodes_;
};

class Defragment : public Placement {
 public:
  explicit Defragment(int moves) : moves_(moves), placer_(std::make_unique<OneNodeChooser>()) {}

  void Place(const Observation& o, std::span<const Grant> grants, Allocation* allocation) override {
    placer_.Keep(o, grants, &kept_);
    placed_.assign(grants.size(), {});
    movable_.clear();
    shares_.clear();
    for (std::size_t g = 0; g < grants.size(); ++g) {
      const std::int32_t row = grants[g].row;
      if (kept_[g] == 0) continue;
      const auto held = o.shares_of(row);
      Remember(held, &placed_[g]);
      placed_[g].configuration = grants[g].configuration;
      if (held.size() == 1) movable_.push_back({g, row});
    }
    int moves_left = moves_;
    for (std::size_t g = 0; g < grants.size(); ++g) {
      if (placed_[g].count > 0) continue;
      bool fits = placer_.Place(o, grants[g]);
      if (!fits && MakeRoom(o, grants[g], &moves_left)) fits = placer_.Place(o, grants[g]);
      if (!fits) continue;
      Remember(placer_.shares(), &placed_[g]);
      placed_[g].configuration = placer_.configuration();
    }
    allocation->Clear();
    for (std::size_t g = 0; g < grants.size(); ++g) {
      if (placed_[g].count == 0) continue;
      allocation->Add(o.job[At(grants[g].row)], placed_[g].configuration,
                      std::span(shares_).subspan(placed_[g].first, placed_[g].count));
    }
  }

 private:
  struct Placed {
    std::size_t first = 0;  // into shares_
    std::size_t count = 0;  // 0: nowhere
    std::int32_t configuration = -1;
  };
  struct Movable {  // a running job that was kept on one node
    std::size_t grant;
    std::int32_t row;
  };
  struct Move {
    std::size_t movable;
    NodeShare from;
  };

  void Remember(std::span<const NodeShare> shares, Placed* placed) {
    placed->first = shares_.size();
    placed->count = shares.size();
    shares_.insert(shares_.end(), shares.begin(), shares.end());
  }

  NodeShare& ShareOf(const Movable& movable) { return shares_[placed_[movable.grant].first]; }

  Resources DemandOfMovable(const Observation& o, const Movable& movable) {
    return DemandOf(o.table[At(movable.row)]->kinds(), ShareOf(movable).units);
  }

  bool MakeRoom(const Observation& o, const Grant& grant, int* moves_left) {
    const ConfigurationTable& table = *o.table[At(grant.row)];
    const Configuration& wanted = table[grant.configuration];
    if (*moves_left == 0 || table.kinds().size() > 1) return false;
    if (!placer_.free().totals().Fits(wanted)) return false;
    nodes_.clear();
    for (NodeIndex node = 0; node < static_cast<NodeIndex>(o.cluster->nodes().size()); ++node) {
      const Node& spec = o.cluster->nodes()[At(node)];
      if (spec.type == wanted.gpu_type && wanted.demand.FitsIn(spec.capacity)) {
        nodes_.push_back(node);
      }
    }
    std::stable_sort(nodes_.begin(), nodes_.end(), [this](NodeIndex a, NodeIndex b) {
      return placer_.free().free_gpus(a) > placer_.free().free_gpus(b);
    });
    return std::any_of(nodes_.begin(), nodes_.end(), [&](NodeIndex node) {
      return ClearFor(o, wanted.demand, node, moves_left);
    });
  }

  // Moves jobs away from the node until the demand fits there; all or none.
  bool ClearFor(const Observation& o, const Resources& demand, NodeIndex node, int* moves_left) {
    FreeMap& free = placer_.free();
    here_.clear();
    for (std::size_t m = 0; m < movable_.size(); ++m) {
      if (ShareOf(movable_[m]).node == node) here_.push_back(m);
    }
    std::stable_sort(here_.begin(), here_.end(), [&](std::size_t a, std::size_t b) {
      return DemandOfMovable(o, movable_[a]).gpus < DemandOfMovable(o, movable_[b]).gpus;
    });
    made_.clear();
    while (free.Capacity(node, demand, 1) == 0) {
      if (here_.empty() || static_cast<int>(made_.size()) == *moves_left) {
        for (auto move = made_.rbegin(); move != made_.rend(); ++move) Undo(o, *move);
        return false;
      }
      const GpuCount lacking = demand.gpus - free.free_gpus(node);
      auto next = std::find_if(here_.begin(), here_.end(), [&](std::size_t m) {
        return DemandOfMovable(o, movable_[m]).gpus >= lacking;
      });
      if (next == here_.end()) --next;
      MoveAway(o, *next);
      here_.erase(next);
    }
    *moves_left -= static_cast<int>(made_.size());
    for (const Move& move : made_) movable_[move.movable].grant = kMoved;
    std::erase_if(movable_, [](const Movable& movable) { return movable.grant == kMoved; });
    return true;
  }

  // To the tightest other node of its type, if one has room.
  void MoveAway(const Observation& o, std::size_t m) {
    FreeMap& free = placer_.free();
    NodeShare& share = ShareOf(movable_[m]);
    const Resources demand = DemandOfMovable(o, movable_[m]);
    const GpuTypeIndex type = o.cluster->nodes()[At(share.node)].type;
    NodeIndex tightest = -1;
    for (NodeIndex node = 0; node < static_cast<NodeIndex>(o.cluster->nodes().size()); ++node) {
      if (node == share.node || o.cluster->nodes()[At(node)].type != type) continue;
      if (free.Capacity(node, demand, 1) == 0) continue;
      if (tightest < 0 || free.free_gpus(node) < free.free_gpus(tightest)) tightest = node;
    }
    if (tightest < 0) return;
    made_.push_back({m, share});
    free.Release(share.node, share.gpus, demand);
    share.node = tightest;
    share.gpus = free.Take(tightest, demand);
  }

  void Undo(const Observation& o, const Move& move) {
    NodeShare& share = ShareOf(movable_[move.movable]);
    const Resources demand = DemandOfMovable(o, movable_[move.movable]);
    placer_.free().Release(share.node, share.gpus, demand);
    placer_.free().TakeExactly(move.from.node, move.from.gpus, demand);
    share = move.from;
  }

  static constexpr std::size_t kMoved = ~std::size_t{0};
  int moves_;
  JobPlacer placer_;
  std::vector<char> kept_;      // by grant
  std::vector<Placed> placed_;  // by grant
  std::vector<NodeShare> shares_;
  std::vector<Movable> movable_;
  std::vector<NodeIndex> nodes_;
  std::vector<std::size_t> here_;  // into movable_, by GPUs
  std::vector<Move> made_;
};

ALLOT_REGISTER(PlacementInfo, ([] {
                 PlacementInfo info;
                 info.id = "defragment";
                 info.summary =
                     "one node per job; if no node has room, running jobs are moved away";
                 info.time_driven = true;  // a move that had to wait for the next decision
                 info.params = {{"max-moves", "2", "jobs moved per decision, at most", 0, 1e6}};
                 info.make = [](const Params& params) {
                   return std::make_unique<Defragment>(params.Integer("max-moves"));
                 };
                 return info;
               }()));

}  // namespace
}  // namespace allot
