// Lowest-numbered nodes with room, spanning as needed.

#include "stages/fill/placer.h"

namespace allot {
namespace {

class FirstFitChooser : public NodeChooser {
 public:
  bool Choose(const ClusterSpec& cluster, FreeMap& free, GpuTypeIndex type,
              const Resources& unit_demand, std::int32_t count, std::span<const NodeShare>,
              std::vector<UnitShare>* chosen) override {
    for (NodeIndex node = 0; node < static_cast<NodeIndex>(cluster.nodes().size()); ++node) {
      if (count == 0) break;
      if (cluster.nodes()[static_cast<std::size_t>(node)].type != type) continue;
      const std::int32_t units = free.Capacity(node, unit_demand, count);
      if (units == 0) continue;
      chosen->push_back({node, units});
      count -= units;
    }
    return count == 0;
  }
};

ALLOT_REGISTER(PlacementInfo,
               ChooserPlacementInfo("first-fit", "the lowest-numbered nodes with room",
                                    [](const Params&) {
                                      return std::make_unique<FirstFitChooser>();
                                    }));

}  // namespace
}  // namespace allot
