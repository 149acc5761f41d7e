// Scattered over as many nodes as possible: one unit to every node with room in turn, from the one
// with the most free GPUs down, then a second, until all are placed. Fewest units of a job on any
// node, for jobs that strain what a node's GPUs share.

#include <algorithm>

#include "stages/fill/placer.h"

namespace allot {
namespace {

class SpreadChooser : public NodeChooser {
 public:
  bool Choose(const ClusterSpec& cluster, FreeMap& free, GpuTypeIndex type,
              const Resources& unit_demand, std::int32_t count, std::span<const NodeShare>,
              std::vector<UnitShare>* chosen) override {
    nodes_.clear();
    std::int64_t room = 0;
    for (NodeIndex node = 0; node < static_cast<NodeIndex>(cluster.nodes().size()); ++node) {
      if (cluster.nodes()[static_cast<std::size_t>(node)].type != type) continue;
      const std::int32_t units = free.Capacity(node, unit_demand, count);
      if (units == 0) continue;
      nodes_.push_back({node, free.free_gpus(node), units});
      room += units;
    }
    if (room < count) return false;
    std::sort(nodes_.begin(), nodes_.end(), [](const Candidate& a, const Candidate& b) {
      return a.free_gpus != b.free_gpus ? a.free_gpus > b.free_gpus : a.node < b.node;
    });
    const std::size_t first = chosen->size();
    for (std::int32_t round = 0; count > 0; ++round) {
      for (std::size_t i = 0; i < nodes_.size() && count > 0; ++i) {
        if (nodes_[i].units <= round) continue;
        if (round == 0) chosen->push_back({nodes_[i].node, 0});
        ++(*chosen)[first + i].units;
        --count;
      }
    }
    return true;
  }

 private:
  struct Candidate {
    NodeIndex node;
    GpuCount free_gpus;
    std::int32_t units;  // that it can hold
  };
  std::vector<Candidate> nodes_;
};

ALLOT_REGISTER(PlacementInfo,
               ChooserPlacementInfo("spread", "fewest units per node, on as many nodes as possible",
                                    [](const Params&) {
                                      return std::make_unique<SpreadChooser>();
                                    }));

}  // namespace
}  // namespace allot
