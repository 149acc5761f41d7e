#include "cluster/room_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

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
                   taken[static_cast<std::size_t>(which)].gpus);
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

// The most on so many nodes, by sorting them.
bool HoldsBySorting(const ClusterSpec& cluster, const FreeMap& free, GpuTypeIndex type,
                    GpuCount gpus, const Span& span) {
  std::vector<GpuCount> rooms;
  for (NodeIndex node = 0; node < static_cast<NodeIndex>(cluster.nodes().size()); ++node) {
    const bool same_type = cluster.nodes()[static_cast<std::size_t>(node)].type == type;
    if (same_type && free.free_gpus(node) > 0) rooms.push_back(free.free_gpus(node));
  }
  std::sort(rooms.rbegin(), rooms.rend());
  if (rooms.size() > static_cast<std::size_t>(span.most)) {
    rooms.resize(static_cast<std::size_t>(span.most));
  }
  const bool nodes = rooms.size() >= static_cast<std::size_t>(span.least) && gpus >= span.least;
  return nodes && std::accumulate(rooms.begin(), rooms.end(), 0) >= gpus;
}

TEST(RoomIndexTest, SaysWhatHoldsOnSoManyNodes) {
  const ClusterSpec cluster = ClusterSpec::Parse("3x4:v100,4x8:a100");
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    SCOPED_TRACE(trial);
    Rng rng(2, "room-index-test", trial);
    FreeMap free(cluster);
    for (NodeIndex node = 0; node < static_cast<NodeIndex>(cluster.nodes().size()); ++node) {
      const auto most = static_cast<std::uint64_t>(free.free_gpus(node));
      free.Take(node, {static_cast<GpuCount>(rng.Below(most + 1)), 0});
    }
    for (GpuTypeIndex type = 0; type < 2; ++type) {
      for (const Span span : {Span{1, 1}, Span{1, 2}, Span{2, 2}, Span{2, Span::kAny}, Span{}}) {
        for (GpuCount gpus = 1; gpus <= 33; ++gpus) {
          ASSERT_EQ(free.HasRoom(type, gpus, span), HoldsBySorting(cluster, free, type, gpus, span))
              << gpus << " GPUs of type " << int{type} << " on " << TextOf(span) << " nodes";
        }
      }
    }
  }
}

}  // namespace
}  // namespace allot
