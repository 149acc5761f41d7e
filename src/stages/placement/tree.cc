// The place of a job by the topology of the cluster (stages/fill/tree_chooser.h), the largest jobs
// first, and three ways to a better one. Each is worth it where it gains more than so many times
// what it costs, in restarts of jobs, so that the same numbers suit any restart cost:
//
// room   Where no domain of its ideal level has room for a job, the smallest jobs of the domain in
//        which fewest GPUs must move make room for it: if `room` times the restarts of their GPUs
//        is less than the GPU time that the job else loses (Measured in docs/topology.md: nearly
//        all that placement can win).
// moves  A job that runs at a higher level than it need moves to a better place that is free, if
//        that saves more than `moves` of its restarts.
// delay  A job waits for a better place, for at most `delay` of its restarts, if it loses more than
//        that where it can begin now.
//
// A job moves only if it has run for kRest restarts for each allocation that it has had, so that
// moves cost less than a tenth of its time. Room is made, and jobs move, only at decisions after an
// arrival or an end; between them the same grants get the same GPUs.

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <utility>

#include "core/index.h"
#include "perf/placed_model.h"
#include "stages/fill/placer.h"
#include "stages/fill/tree_chooser.h"

namespace allot {
namespace {

constexpr double kRest = 10;      // restarts that a job has run before it moves again
constexpr double kHorizon = 120;  // restarts ahead that count: by then, others have left
constexpr int kMostTries = 6;     // better places looked for at one decision

struct TreeRule {
  double delay = 0;
  double moves = 0;
  double room = 0;
};

class Tree : public Placement {
 public:
  explicit Tree(const TreeRule& rule) : rule_(rule), placer_(std::make_unique<TreeChooser>()) {}

  void Place(const Observation& o, std::span<const Grant> grants, Allocation* allocation) override {
    placer_.Keep(o, grants, &kept_);
    Begin(o, grants);
    const bool places = o.cluster->topology() != nullptr && !o.places.empty();
    const bool changes = places && HasChanged(o);
    for (const std::size_t g : waiting_) {
      if (changes && rule_.room > 0) MakeRoom(o, grants, g);
      if (placed_[g].count > 0) continue;
      if (!placer_.Place(o, grants[g])) continue;
      if (places && Waits(o, grants[g])) {
        PutBack(o, grants[g].row, placer_.shares());
        continue;
      }
      Remember(placer_.shares(), placer_.configuration(), &placed_[g]);
    }
    if (changes && rule_.moves > 0) MoveToBetter(o, grants);
    allocation->Clear();
    for (std::size_t g = 0; g < grants.size(); ++g) {
      if (placed_[g].count == 0) continue;
      allocation->Add(o.job[At(grants[g].row)], placed_[g].configuration, SharesOf(placed_[g]),
                      false, kept_[g] != 0 ? o.partner_of(grants[g].row) : kAlone);
    }
  }

  Seconds HoldsUntil() const override { return wakes_; }

 private:
  struct Placed {
    std::size_t first = 0;  // into shares_
    std::size_t count = 0;  // 0: nowhere
    std::int32_t configuration = -1;
  };
  struct Slow {
    double loss;  // GPU seconds
    std::size_t grant;
  };
  // A way to make room.
  struct Clearing {
    double gpus = 0;  // that move
    std::vector<std::size_t> grants;
    std::vector<NodeIndex> nodes;  // that will be free, and those that are
  };

  void Begin(const Observation& o, std::span<const Grant> grants) {
    wakes_ = kNever;
    moved_.clear();
    placed_.assign(grants.size(), {});
    shares_.clear();
    waiting_.clear();
    for (std::size_t g = 0; g < grants.size(); ++g) {
      if (kept_[g] != 0) {
        Remember(o.shares_of(grants[g].row), grants[g].configuration, &placed_[g]);
      } else {
        waiting_.push_back(g);
      }
    }
    // Small jobs fit into what large ones leave.
    std::stable_sort(waiting_.begin(), waiting_.end(), [&](std::size_t a, std::size_t b) {
      return GpusOf(o, grants[a]) > GpusOf(o, grants[b]);
    });
  }

  static GpuCount GpusOf(const Observation& o, const Grant& grant) {
    return (*o.table[At(grant.row)])[grant.configuration].demand.gpus;
  }

  static bool HasChanged(const Observation& o) {
    return o.decision == 0 || !o.events.arrived.empty() || !o.events.ended.empty();
  }

  void Remember(std::span<const NodeShare> shares, std::int32_t configuration, Placed* placed) {
    placed->first = shares_.size();
    placed->count = shares.size();
    placed->configuration = configuration;
    shares_.insert(shares_.end(), shares.begin(), shares.end());
  }

  std::span<const NodeShare> SharesOf(const Placed& placed) const {
    return std::span(shares_).subspan(placed.first, placed.count);
  }

  void PutBack(const Observation& o, std::int32_t row, std::span<const NodeShare> shares) {
    for (const NodeShare& share : shares) {
      placer_.free().Release(share.node, share.gpus,
                             DemandOf(o.table[At(row)]->kinds(), share.units));
    }
  }

  void TakeAgain(const Observation& o, std::int32_t row, std::span<const NodeShare> shares) {
    for (const NodeShare& share : shares) {
      placer_.free().TakeExactly(share.node, share.gpus,
                                 DemandOf(o.table[At(row)]->kinds(), share.units));
    }
  }

  // Seconds, on the best place, that a job still runs as far as they count.
  static Seconds Left(const Observation& o, std::int32_t row, std::int32_t configuration) {
    const Seconds restart = o.restart_cost[At(row)];
    const Seconds horizon = restart > 0 ? kHorizon * restart : kNever;
    const double rate = (*o.table[At(row)])[configuration].rate;
    const double left = EstimatedRemaining(o.estimated_work[At(row)], o.done_work[At(row)]) / rate;
    return std::isnan(left) ? kHorizon * restart : std::min(left, horizon);
  }

  // How many seconds a second of work takes at this place, but for what other jobs do.
  static double SlowdownOn(const Observation& o, std::int32_t row, GpuTypeIndex type,
                           std::span<const NodeShare> shares) {
    const PlaceFactors place{
        .level = o.cluster->topology()->LevelFactor(type, shares, o.table[At(row)]->has_spans())};
    return SlowdownAt(place, o.places[At(row)].communication);
  }

  double SlowdownOf(const Observation& o, const Grant& grant,
                    std::span<const NodeShare> shares) const {
    return SlowdownOn(o, grant.row, TypeOf(o, grant), shares);
  }

  static GpuTypeIndex TypeOf(const Observation& o, const Grant& grant) {
    return (*o.table[At(grant.row)])[grant.configuration].gpu_type;
  }

  // ---- delay ----

  bool Waits(const Observation& o, const Grant& grant) {
    if (!(rule_.delay > 0) || o.running[At(grant.row)] >= 0) return false;
    const Seconds patience = rule_.delay * o.restart_cost[At(grant.row)];
    const Seconds until = o.waiting_since[At(grant.row)] + patience;
    if (until <= o.now) return false;
    const double slowdown = SlowdownOf(o, grant, placer_.shares());
    if ((slowdown - 1) * Left(o, grant.row, grant.configuration) <= patience) return false;
    wakes_ = std::min(wakes_, until);
    return true;
  }

  // ---- moves ----

  bool MayMove(const Observation& o, const Grant& grant, std::size_t g) const {
    const std::size_t row = At(grant.row);
    return kept_[g] != 0 && placed_[g].count > 0 && o.partner_of(grant.row) == kAlone &&
           o.table[row]->kinds().size() == 1 &&
           o.attained_seconds[row] >= kRest * o.restart_cost[row] * std::max(1, o.changes[row]);
  }

  void MoveToBetter(const Observation& o, std::span<const Grant> grants) {
    slow_.clear();
    for (std::size_t g = 0; g < grants.size(); ++g) {
      if (placed_[g].count < 2 || !MayMove(o, grants[g], g) || moved_.contains(g)) continue;
      const double lost = (SlowdownOf(o, grants[g], SharesOf(placed_[g])) - 1) *
                          Left(o, grants[g].row, grants[g].configuration);
      if (lost > rule_.moves * o.restart_cost[At(grants[g].row)]) {
        slow_.push_back({lost * GpusOf(o, grants[g]), g});
      }
    }
    std::stable_sort(slow_.begin(), slow_.end(),
                     [](const Slow& a, const Slow& b) { return a.loss > b.loss; });
    if (slow_.size() > At(kMostTries)) slow_.resize(At(kMostTries));
    for (const Slow& slow : slow_) {
      const Grant& grant = grants[slow.grant];
      const std::vector<NodeShare> before(SharesOf(placed_[slow.grant]).begin(),
                                          SharesOf(placed_[slow.grant]).end());
      PutBack(o, grant.row, before);
      const bool fits = placer_.Place(o, grant);
      const double saved =
          fits ? (SlowdownOf(o, grant, before) - SlowdownOf(o, grant, placer_.shares())) *
                     Left(o, grant.row, grant.configuration)
               : 0;
      if (saved > rule_.moves * o.restart_cost[At(grant.row)]) {
        Remember(placer_.shares(), placer_.configuration(), &placed_[slow.grant]);
        // What it leaves may be a place for somebody who waits.
        if (wakes_ < kNever) wakes_ = o.now;
        continue;
      }
      if (fits) PutBack(o, grant.row, placer_.shares());
      TakeAgain(o, grant.row, before);
    }
  }

  // ---- room ----

  void MakeRoom(const Observation& o, std::span<const Grant> grants, std::size_t g) {
    const Grant& grant = grants[g];
    const Topology& topology = *o.cluster->topology();
    const Communication& communication = o.places[At(grant.row)].communication;
    if (!(communication.share > 0) || o.table[At(grant.row)]->kinds().size() > 1) return;
    if (!placer_.Place(o, grant)) return;
    const double slowdown = SlowdownOf(o, grant, placer_.shares());
    PutBack(o, grant.row, placer_.shares());
    const GpuCount gpus = GpusOf(o, grant);
    const double lost = (slowdown - 1) * gpus * Left(o, grant.row, grant.configuration);
    if (!(lost > 0)) return;
    const GpuTypeIndex type = TypeOf(o, grant);
    const GpuCount node_gpus = placer_.free().domains().node_gpus(type);
    const GpuCount each = std::min(gpus, node_gpus);
    const auto nodes = static_cast<std::size_t>((gpus + node_gpus - 1) / node_gpus);
    FindHolders(o, grants, std::max(node_gpus / 2, gpus / 4));
    Clearing best;
    const int level = std::max(1, topology.IdealLevel(type, gpus));
    for (Topology::Domain domain = 0; domain < topology.domains(level); ++domain) {
      Clearing clearing = ClearingOf(o, topology.NodesOf(level, domain), type, each, nodes);
      if (clearing.nodes.size() < nodes) continue;
      CountGpus(o, grants, &clearing);
      if (best.nodes.empty() || clearing.gpus < best.gpus) best = std::move(clearing);
    }
    if (best.nodes.empty() || best.grants.empty()) return;
    if (rule_.room * best.gpus * o.restart_cost[At(grant.row)] > lost) return;
    if (!Clear(o, grants, best)) return;
    if (placer_.Place(o, grant)) {
      Remember(placer_.shares(), placer_.configuration(), &placed_[g]);
    }
  }

  // By node, the small jobs that may move and the GPUs of all others.
  void FindHolders(const Observation& o, std::span<const Grant> grants, GpuCount most) {
    const std::size_t nodes = o.cluster->nodes().size();
    movable_.resize(nodes);
    for (auto& movable : movable_) movable.clear();
    fixed_gpus_.assign(nodes, 0);
    for (std::size_t node = 0; node < nodes; ++node) {
      fixed_gpus_[node] = o.cluster->nodes()[node].capacity.gpus -
                          placer_.free().free_gpus(static_cast<NodeIndex>(node));
    }
    for (std::size_t g = 0; g < grants.size(); ++g) {
      if (!MayMove(o, grants[g], g) || moved_.contains(g) || GpusOf(o, grants[g]) > most) continue;
      for (const NodeShare& share : SharesOf(placed_[g])) {
        movable_[At(share.node)].push_back(g);
        fixed_gpus_[At(share.node)] -= std::popcount(share.gpus);
      }
    }
  }

  // The nodes of a domain that get so many free GPUs each with the fewest GPUs moved.
  Clearing ClearingOf(const Observation& o, std::span<const NodeIndex> nodes, GpuTypeIndex type,
                      GpuCount each, std::size_t wanted) {
    costs_.clear();
    for (const NodeIndex node : nodes) {
      const Node& spec = o.cluster->nodes()[At(node)];
      if (spec.type != type || spec.capacity.gpus - fixed_gpus_[At(node)] < each) continue;
      const GpuCount lacking = std::max(0, each - placer_.free().free_gpus(node));
      costs_.emplace_back(lacking, node);
    }
    const auto last = costs_.begin() + static_cast<std::ptrdiff_t>(std::min(wanted, costs_.size()));
    std::partial_sort(costs_.begin(), last, costs_.end());
    Clearing clearing;
    for (auto cost = costs_.begin(); cost != last; ++cost) {
      clearing.nodes.push_back(cost->second);
      AddJobsOn(cost->second, cost->first, &clearing);
    }
    return clearing;
  }

  // The smallest job that frees what the node lacks, else the largest, and on.
  void AddJobsOn(NodeIndex node, GpuCount lacking, Clearing* clearing) {
    here_.clear();
    for (const std::size_t g : movable_[At(node)]) {
      for (const NodeShare& share : SharesOf(placed_[g])) {
        if (share.node == node) here_.emplace_back(std::popcount(share.gpus), g);
      }
    }
    std::sort(here_.begin(), here_.end());
    while (lacking > 0 && !here_.empty()) {
      auto next = std::find_if(here_.begin(), here_.end(),
                               [lacking](const auto& job) { return job.first >= lacking; });
      if (next == here_.end()) --next;
      lacking -= next->first;
      clearing->grants.push_back(next->second);
      here_.erase(next);
    }
  }

  // All GPUs of a job move, not only those on the cleared nodes.
  static void CountGpus(const Observation& o, std::span<const Grant> grants, Clearing* clearing) {
    std::sort(clearing->grants.begin(), clearing->grants.end());
    clearing->grants.erase(std::unique(clearing->grants.begin(), clearing->grants.end()),
                           clearing->grants.end());
    for (const std::size_t g : clearing->grants) clearing->gpus += GpusOf(o, grants[g]);
  }

  // Moves the jobs to other nodes, where each is as fast as it was; all or none.
  bool Clear(const Observation& o, std::span<const Grant> grants, const Clearing& clearing) {
    FreeMap& free = placer_.free();
    before_.clear();
    for (const std::size_t g : clearing.grants) {
      before_.push_back(placed_[g]);
      PutBack(o, grants[g].row, SharesOf(placed_[g]));
    }
    // Hidden, so that nobody moves there.
    hidden_.clear();
    for (const NodeIndex node : clearing.nodes) {
      hidden_.push_back({node, {}, free.gpu_mask(node)});
      free.TakeExactly(node, hidden_.back().gpus);
    }
    std::size_t done = 0;
    for (; done < clearing.grants.size(); ++done) {
      const std::size_t g = clearing.grants[done];
      if (!placer_.Place(o, grants[g])) break;
      if (SlowdownOf(o, grants[g], placer_.shares()) >
          SlowdownOf(o, grants[g], SharesOf(before_[done]))) {
        PutBack(o, grants[g].row, placer_.shares());
        break;
      }
      Remember(placer_.shares(), placer_.configuration(), &placed_[g]);
    }
    for (const NodeShare& share : hidden_) free.Release(share.node, share.gpus);
    if (done == clearing.grants.size()) {
      moved_.insert(clearing.grants.begin(), clearing.grants.end());
      return true;
    }
    for (std::size_t i = 0; i < done; ++i) {
      const std::size_t g = clearing.grants[i];
      PutBack(o, grants[g].row, SharesOf(placed_[g]));
      placed_[g] = before_[i];
    }
    for (const std::size_t g : clearing.grants) {
      TakeAgain(o, grants[g].row, SharesOf(placed_[g]));
    }
    return false;
  }

  TreeRule rule_;
  JobPlacer placer_;
  Seconds wakes_ = kNever;
  std::vector<char> kept_;      // by grant
  std::vector<Placed> placed_;  // by grant
  std::vector<NodeShare> shares_;
  std::vector<std::size_t> waiting_;  // grants, the largest first
  std::set<std::size_t> moved_;       // grants
  std::vector<Slow> slow_;
  std::vector<std::vector<std::size_t>> movable_;  // grants by node
  std::vector<GpuCount> fixed_gpus_;               // by node
  std::vector<std::pair<GpuCount, NodeIndex>> costs_;
  std::vector<std::pair<GpuCount, std::size_t>> here_;
  std::vector<Placed> before_;
  std::vector<NodeShare> hidden_;
};

ALLOT_REGISTER(
    PlacementInfo, ([] {
      PlacementInfo info;
      info.id = "tree";
      info.summary =
          "lowest level of the topology, tightest fit; room for gangs by moving small jobs";
      info.repeats = true;
      info.params = {
          {"delay", "0", "wait for a better place for at most so many restarts", 0, 1e6},
          {"moves", "3", "move a job where that saves so many of its restarts (0: never)", 0, 1e6},
          {"room", "2",
           "move small jobs away where that saves so many times their restarts (0: never)", 0,
           1e6}};
      info.make = [](const Params& params) {
        return std::make_unique<Tree>(
            TreeRule{params.Number("delay"), params.Number("moves"), params.Number("room")});
      };
      return info;
    }()));

}  // namespace
}  // namespace allot
