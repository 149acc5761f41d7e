// Close together: all of a job on one node, else in one domain of `domain` nodes in a row (a rack,
// an NVLink domain), else over as few domains as possible. Best fit at each level: the tightest
// node, the tightest domain that holds all; within a domain the emptiest nodes first, so that few
// nodes are used.

#include <algorithm>

#include "core/index.h"
#include "stages/fill/placer.h"

namespace allot {
namespace {

class LocalChooser : public NodeChooser {
 public:
  explicit LocalChooser(NodeIndex domain) : domain_(domain) {}

  bool Choose(const ClusterSpec& cluster, FreeMap& free, GpuTypeIndex type,
              const Resources& unit_demand, std::int32_t count, std::span<const NodeShare>,
              std::vector<UnitShare>* chosen) override {
    Survey(cluster, free, type, unit_demand);
    if (const NodeIndex node = Tightest(node_room_, count); node >= 0) {
      chosen->push_back({node, count});
      return true;
    }
    if (const NodeIndex domain = Tightest(domain_room_, count); domain >= 0) {
      Fill(domain, count, chosen);
      return true;
    }
    std::int64_t room = 0;
    for (const std::int32_t units : domain_room_) room += units;
    if (room < count) return false;
    while (count > 0) {
      // The emptiest domain, until the rest fits in one.
      NodeIndex domain = Tightest(domain_room_, count);
      if (domain < 0) domain = Emptiest(domain_room_, 0, domain_room_.size());
      const std::int32_t units = std::min(count, domain_room_[At(domain)]);
      Fill(domain, units, chosen);
      domain_room_[At(domain)] = 0;
      count -= units;
    }
    return true;
  }

 private:
  // How many units each node and each domain can hold.
  void Survey(const ClusterSpec& cluster, const FreeMap& free, GpuTypeIndex type,
              const Resources& unit_demand) {
    const auto nodes = static_cast<NodeIndex>(cluster.nodes().size());
    node_room_.assign(At(nodes), 0);
    domain_room_.assign(At((nodes - 1) / domain_ + 1), 0);
    for (NodeIndex node = 0; node < nodes; ++node) {
      const Node& spec = cluster.nodes()[At(node)];
      if (spec.type != type) continue;
      node_room_[At(node)] =
          free.Capacity(node, unit_demand, spec.capacity.gpus + spec.capacity.cpus);
      domain_room_[At(node / domain_)] += node_room_[At(node)];
    }
  }

  // The first of the smallest that hold `count`; -1 when none does.
  static NodeIndex Tightest(const std::vector<std::int32_t>& rooms, std::int32_t count) {
    NodeIndex best = -1;
    for (std::size_t i = 0; i < rooms.size(); ++i) {
      if (rooms[i] >= count && (best < 0 || rooms[i] < rooms[At(best)])) {
        best = static_cast<NodeIndex>(i);
      }
    }
    return best;
  }

  static NodeIndex Emptiest(const std::vector<std::int32_t>& rooms, std::size_t begin,
                            std::size_t end) {
    const auto from = rooms.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto to = rooms.begin() + static_cast<std::ptrdiff_t>(end);
    return static_cast<NodeIndex>(std::max_element(from, to) - rooms.begin());
  }

  // `count` units, which the domain holds, on its emptiest nodes; the last of them on the tightest.
  void Fill(NodeIndex domain, std::int32_t count, std::vector<UnitShare>* chosen) {
    const std::size_t begin = At(domain * domain_);
    const std::size_t end = std::min(begin + At(domain_), node_room_.size());
    while (count > 0) {
      NodeIndex node = Emptiest(node_room_, begin, end);
      for (std::size_t i = begin; i < end; ++i) {
        if (node_room_[i] >= count && node_room_[i] < node_room_[At(node)]) {
          node = static_cast<NodeIndex>(i);
        }
      }
      const std::int32_t units = std::min(count, node_room_[At(node)]);
      chosen->push_back({node, units});
      node_room_[At(node)] = 0;
      count -= units;
    }
  }

  NodeIndex domain_;
  std::vector<std::int32_t> node_room_;
  std::vector<std::int32_t> domain_room_;
};

ALLOT_REGISTER(PlacementInfo,
               ChooserPlacementInfo(
                   "local", "within one node, or one domain of nodes, or few domains",
                   [](const Params& params) {
                     return std::make_unique<LocalChooser>(params.Integer("domain"));
                   },
                   {{"domain", "4", "number of consecutive nodes that form a domain", 1, 1e9}}));

}  // namespace
}  // namespace allot
