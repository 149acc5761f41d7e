// The GPUs of the round before for who runs on the same type as then, the next free ones in order
// for all others (Narayanan et al., Gavel, OSDI'20, section 5). On each type large jobs come first,
// and of equal size those that stay; a job may lie on any nodes.

#include <algorithm>

#include "core/index.h"
#include "stages/fill/placer.h"

namespace allot {
namespace {

class Sticky : public Placement {
 public:
  void Place(const Observation& o, std::span<const Grant> grants, Allocation* allocation) override {
    allocation->Clear();
    free_.Reset(*o.cluster);
    FindNodes(*o.cluster);
    order_.clear();
    std::fill(rank_.begin(), rank_.end(), -1);
    std::int32_t types = 0;
    for (std::size_t g = 0; g < grants.size(); ++g) {
      const Configuration& c = ConfigurationOf(o, grants[g]);
      if (rank_[At(c.gpu_type)] < 0) rank_[At(c.gpu_type)] = types++;
      order_.push_back({rank_[At(c.gpu_type)], c.demand.gpus, static_cast<std::int32_t>(g)});
    }
    std::sort(order_.begin(), order_.end(), [](const Turn& a, const Turn& b) {
      if (a.type != b.type) return a.type < b.type;
      return a.gpus != b.gpus ? a.gpus > b.gpus : a.grant < b.grant;
    });
    for (std::size_t first = 0; first < order_.size();) {
      std::size_t end = first;
      const auto alike = [&](const Turn& t) {
        return t.type == order_[first].type && t.gpus == order_[first].gpus;
      };
      while (end < order_.size() && alike(order_[end])) ++end;
      for (std::size_t i = first; i < end; ++i) {
        if (!Keep(o, grants[At(order_[i].grant)], allocation)) continue;
        order_[i].grant = -1;
      }
      for (std::size_t i = first; i < end; ++i) {
        if (order_[i].grant >= 0) FindNext(o, grants[At(order_[i].grant)], allocation);
      }
      first = end;
    }
  }

 private:
  struct Turn {
    std::int32_t type;  // in the order in which grants name them
    GpuCount gpus;
    std::int32_t grant;
  };

  static const Configuration& ConfigurationOf(const Observation& o, const Grant& grant) {
    return (*o.table[At(grant.row)])[grant.configuration];
  }

  void FindNodes(const ClusterSpec& cluster) {
    nodes_.resize(cluster.types().size());
    for (auto& nodes : nodes_) nodes.clear();
    next_.assign(nodes_.size(), 0);
    rank_.resize(nodes_.size());
    for (std::size_t n = 0; n < cluster.nodes().size(); ++n) {
      nodes_[At(cluster.nodes()[n].type)].push_back(static_cast<NodeIndex>(n));
    }
  }

  bool Keep(const Observation& o, const Grant& grant, Allocation* allocation) {
    const std::size_t row = At(grant.row);
    if (grant.anew || o.running[row] != grant.configuration) return false;
    const auto& kinds = o.table[row]->kinds();
    const auto held = o.shares_of(grant.row);
    for (std::size_t s = 0; s < held.size(); ++s) {
      if (free_.TakeExactly(held[s].node, held[s].gpus, DemandOf(kinds, held[s].units))) continue;
      while (s-- > 0) {
        free_.Release(held[s].node, held[s].gpus, DemandOf(kinds, held[s].units));
      }
      return false;
    }
    allocation->Add(o.job[row], grant.configuration, held);
    return true;
  }

  void FindNext(const Observation& o, const Grant& grant, Allocation* allocation) {
    const ConfigurationTable& table = *o.table[At(grant.row)];
    const Configuration& c = table[grant.configuration];
    shares_.clear();
    // Nodes fill up from the first on; those before `next` are full.
    std::size_t& next = next_[At(c.gpu_type)];
    const std::vector<NodeIndex>& nodes = nodes_[At(c.gpu_type)];
    bool placed = true;
    for (std::size_t kind = 0; kind < table.kinds().size(); ++kind) {
      std::int32_t count = c.units.of(kind);
      const Resources& demand = table.kinds()[kind].demand;
      for (std::size_t n = next; n < nodes.size() && count > 0; ++n) {
        if (n == next && free_.free_gpus(nodes[n]) == 0) {
          ++next;
          continue;
        }
        const std::int32_t units = free_.Capacity(nodes[n], demand, count);
        if (units == 0) continue;
        Take(nodes[n], kind, units, demand);
        count -= units;
      }
      placed = placed && count == 0;
    }
    const std::int32_t configuration =
        c.span.any() ? grant.configuration : table.Find(c.units, c.gpu_type, shares_.size());
    if (!placed || configuration < 0) {
      for (const NodeShare& share : shares_) {
        free_.Release(share.node, share.gpus, DemandOf(table.kinds(), share.units));
      }
      next = 0;
      return;
    }
    std::sort(shares_.begin(), shares_.end(),
              [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; });
    allocation->Add(o.job[At(grant.row)], configuration, shares_);
  }

  void Take(NodeIndex node, std::size_t kind, std::int32_t units, const Resources& demand) {
    const std::uint64_t gpus = free_.Take(node, demand * units);
    const auto same = std::find_if(shares_.begin(), shares_.end(),
                                   [node](const NodeShare& s) { return s.node == node; });
    NodeShare& share = same == shares_.end() ? shares_.emplace_back() : *same;
    share.node = node;
    share.units.Set(kind, static_cast<std::int16_t>(share.units.of(kind) + units));
    share.gpus |= gpus;
  }

  FreeMap free_;
  std::vector<std::vector<NodeIndex>> nodes_;  // by type
  std::vector<std::size_t> next_;              // by type
  std::vector<std::int32_t> rank_;             // by type
  std::vector<Turn> order_;
  std::vector<NodeShare> shares_;
};

ALLOT_REGISTER(PlacementInfo, ([] {
                 PlacementInfo info;
                 info.id = "sticky";
                 info.summary = "the GPUs of before on the same type, else the next free ones";
                 info.repeats = true;
                 info.make = [](const Params&) { return std::make_unique<Sticky>(); };
                 return info;
               }()));

}  // namespace
}  // namespace allot
