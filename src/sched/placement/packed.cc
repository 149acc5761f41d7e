// Few nodes per job, few holes: nodes that the job holds already, then the tightest node that takes
// all of the rest, else the emptiest node and on with the remainder.

#include <algorithm>

#include "sched/placer.h"

namespace allot {
namespace {

class PackedChooser : public NodeChooser {
 public:
  bool Choose(const ClusterSpec& cluster, const FreeMap& free, GpuTypeIndex type,
              const Resources& unit_demand, std::int32_t count, std::span<const NodeShare> held,
              std::vector<UnitShare>* chosen) override {
    // Node by node; `chosen` stays short, so that membership is a linear scan.
    const auto used = [&](NodeIndex node) {
      return std::any_of(chosen->begin(), chosen->end(),
                         [&](const UnitShare& share) { return share.node == node; });
    };
    for (const NodeShare& share : held) {
      if (count == 0) return true;
      if (cluster.nodes()[static_cast<std::size_t>(share.node)].type != type) continue;
      const std::int32_t units = free.Capacity(share.node, unit_demand, count);
      if (units == 0) continue;
      chosen->push_back({share.node, units});
      count -= units;
    }
    while (count > 0) {
      NodeIndex tightest = -1;
      std::int32_t tightest_room = 0;
      NodeIndex emptiest = -1;
      std::int32_t most = 0;
      for (NodeIndex node = 0; node < static_cast<NodeIndex>(cluster.nodes().size()); ++node) {
        const Node& spec = cluster.nodes()[static_cast<std::size_t>(node)];
        if (spec.type != type || used(node)) continue;
        const std::int32_t room =
            free.Capacity(node, unit_demand, spec.capacity.gpus + spec.capacity.cpus);
        if (room >= count && (tightest < 0 || room < tightest_room)) {
          tightest = node;
          tightest_room = room;
          if (room == count) break;
        }
        if (room > most) {
          emptiest = node;
          most = room;
        }
      }
      if (tightest >= 0) {
        chosen->push_back({tightest, count});
        return true;
      }
      if (emptiest < 0) return false;
      chosen->push_back({emptiest, most});
      count -= most;
    }
    return true;
  }
};

ALLOT_REGISTER(PlacementInfo,
               ChooserPlacementInfo(
                   "packed", "held nodes first, then best fit, spanning as few nodes as possible",
                   [] { return std::make_unique<PackedChooser>(); }));

}  // namespace
}  // namespace allot
