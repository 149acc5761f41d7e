#pragma once
// Few nodes per job, few holes: nodes that the job holds already, then the tightest node that takes
// all of the rest, else the emptiest node and on with the remainder. Blind to the network. O(GPUs
// of a node x nodes taken + nodes / 64) for whole GPUs, else O(nodes x nodes taken).

#include <cstdint>
#include <span>
#include <vector>

#include "stages/fill/placer.h"

namespace allot {

class PackedChooser : public NodeChooser {
 public:
  bool Choose(const ClusterSpec& cluster, FreeMap& free, GpuTypeIndex type,
              const Resources& unit_demand, std::int32_t count, std::span<const NodeShare> held,
              std::vector<UnitShare>* chosen) override;
};

}  // namespace allot
