// Unit by unit on the node with the most free GPUs (ties: more free CPUs, then the lowest number).

#include "stages/fill/placer.h"

namespace allot {
namespace {

class LeastLoadedChooser : public NodeChooser {
 public:
  bool Choose(const ClusterSpec& cluster, FreeMap& free, GpuTypeIndex type,
              const Resources& unit_demand, std::int32_t count, std::span<const NodeShare>,
              std::vector<UnitShare>* chosen) override {
    const auto nodes = static_cast<NodeIndex>(cluster.nodes().size());
    placed_.assign(cluster.nodes().size(), 0);
    for (; count > 0; --count) {
      NodeIndex best = -1;
      std::int32_t best_gpus = 0;
      std::int32_t best_cpus = 0;
      for (NodeIndex node = 0; node < nodes; ++node) {
        const auto n = static_cast<std::size_t>(node);
        if (cluster.nodes()[n].type != type) continue;
        if (free.Capacity(node, unit_demand, placed_[n] + 1) <= placed_[n]) continue;
        const std::int32_t gpus = free.free_gpus(node) - unit_demand.gpus * placed_[n];
        const std::int32_t cpus = free.free_cpus(node) - unit_demand.cpus * placed_[n];
        if (best < 0 || gpus > best_gpus || (gpus == best_gpus && cpus > best_cpus)) {
          best = node;
          best_gpus = gpus;
          best_cpus = cpus;
        }
      }
      if (best < 0) return false;
      ++placed_[static_cast<std::size_t>(best)];
    }
    for (NodeIndex node = 0; node < nodes; ++node) {
      const std::int32_t units = placed_[static_cast<std::size_t>(node)];
      if (units > 0) chosen->push_back({node, units});
    }
    return true;
  }

 private:
  std::vector<std::int32_t> placed_;
};

ALLOT_REGISTER(
    PlacementInfo,
    ChooserPlacementInfo("least-loaded", "one unit at a time on the node with the most free GPUs",
                         [](const Params&) { return std::make_unique<LeastLoadedChooser>(); }));

}  // namespace
}  // namespace allot
