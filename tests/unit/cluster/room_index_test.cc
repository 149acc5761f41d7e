#include "cluster/room_index.h"

#include <gtest/gtest.h>

#include <bit>

#include "cluster/free_map.h"
#include "core/rng.h"

namespace allot {
namespace {

NodeIndex Walk(const ClusterSpec& cluster, const FreeMap& free, GpuTypeIndex type, GpuCount gpus) {
  for (NodeIndex node = 0; node < static_cast<NodeIndex>(cluster.nodes().size()); ++node) {
    const bool same_type = cluster.nodes()[static_cast<std::size_t>(node)].type == type;
    if (same_type && free.free_gpus(node) == gpus) return node;
  }
  return -1;
}

// Takes and releases at random; the index must name the node that a walk names, always.
TEST(RoomIndexTest, AgreesWithAWalkOverAllNodes) {
  const ClusterSpec cluster = ClusterSpec::Parse("70x4:v100,80x8:a100");
  FreeMap free(cluster);
  Rng rng(1, "room-index-test");
  struct Taken {
    NodeIndex node;
    std::uint64_t gpus;
  };
  std::vector<Taken> taken;
  for (int step = 0; step < 2000; ++step) {
    if (taken.empty() || rng.Below(5) < 3) {
      const auto node = static_cast<NodeIndex>(rng.Below(cluster.nodes().size()));
      if (free.free_gpus(node) > 0) {
        const auto wanted =
            static_cast<GpuCount>(1 + rng.Below(static_cast<std::uint64_t>(free.free_gpus(node))));
        taken.push_back({node, free.Take(node, {wanted, 0})});
      }
    } else {
      const auto which = static_cast<std::ptrdiff_t>(rng.Below(taken.size()));
      free.Release(taken[static_cast<std::size_t>(which)].node,
                   taken[static_cast<std::size_t>(which)].gpus, 0);
      taken.erase(taken.begin() + which);
    }
    for (GpuTypeIndex type = 0; type < 2; ++type) {
      for (GpuCount gpus = 0; gpus <= 8; ++gpus) {
        const NodeIndex found = free.rooms().First(type, gpus, [](NodeIndex) { return true; });
        ASSERT_EQ(found, Walk(cluster, free, type, gpus))
            << "step " << step << ", type " << int{type} << ", " << gpus << " free GPUs";
      }
    }
  }
}

}  // namespace
}  // namespace allot
