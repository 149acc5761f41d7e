// One node for the whole job or nothing: the tightest that holds it (ties: the lowest number). A
// job larger than a node is never placed.

#include <limits>

#include "stages/fill/placer.h"

namespace allot {
namespace {

class ConsolidatedChooser : public NodeChooser {
 public:
  bool Choose(const ClusterSpec& cluster, FreeMap& free, GpuTypeIndex type,
              const Resources& unit_demand, std::int32_t count, std::span<const NodeShare>,
              std::vector<UnitShare>* chosen) override {
    if (unit_demand == Resources{1, 0}) {
      const RoomIndex& rooms = free.rooms();
      for (GpuCount room = count; room <= rooms.most(); ++room) {
        const NodeIndex node = rooms.First(type, room, [](NodeIndex) { return true; });
        if (node < 0) continue;
        chosen->push_back({node, count});
        return true;
      }
      return false;
    }
    NodeIndex tightest = -1;
    std::int32_t least = std::numeric_limits<std::int32_t>::max();
    for (NodeIndex node = 0; node < static_cast<NodeIndex>(cluster.nodes().size()); ++node) {
      const Node& spec = cluster.nodes()[static_cast<std::size_t>(node)];
      if (spec.type != type) continue;
      const std::int32_t room =
          free.Capacity(node, unit_demand, spec.capacity.gpus + spec.capacity.cpus);
      if (room < count || room >= least) continue;
      tightest = node;
      least = room;
      if (room == count) break;
    }
    if (tightest < 0) return false;
    chosen->push_back({tightest, count});
    return true;
  }
};

ALLOT_REGISTER(
    PlacementInfo,
    ChooserPlacementInfo("consolidated", "the fullest single node with room, never several nodes",
                         [](const Params&) { return std::make_unique<ConsolidatedChooser>(); }));

}  // namespace
}  // namespace allot
