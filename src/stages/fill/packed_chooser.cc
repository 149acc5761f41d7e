#include "stages/fill/packed_chooser.h"

#include <algorithm>

namespace allot {
namespace {

// The tightest node that holds all the rest, else the emptiest.
struct Found {
  NodeIndex node = -1;
  std::int32_t units = 0;
};

template <typename Used>
Found ByIndex(FreeMap& free, GpuTypeIndex type, std::int32_t count, const Used& used) {
  const RoomIndex& rooms = free.rooms();
  const auto unused = [&used](NodeIndex node) { return !used(node); };
  for (GpuCount room = count; room <= rooms.most(); ++room) {
    const NodeIndex node = rooms.First(type, room, unused);
    if (node >= 0) return {node, count};
  }
  for (GpuCount room = std::min(count - 1, rooms.most()); room > 0; --room) {
    const NodeIndex node = rooms.First(type, room, unused);
    if (node >= 0) return {node, room};
  }
  return {};
}

template <typename Used>
Found ByWalk(const ClusterSpec& cluster, const FreeMap& free, GpuTypeIndex type,
             const Resources& unit_demand, std::int32_t count, const Used& used) {
  Found tightest;
  std::int32_t tightest_room = 0;
  Found emptiest;
  NodeIndex alike = -1;  // the last one looked at
  const auto same_free = [&free](NodeIndex a, NodeIndex b) {
    return free.gpu_mask(a) == free.gpu_mask(b) && free.free_cpus(a) == free.free_cpus(b) &&
           free.free_memory_mb(a) == free.free_memory_mb(b);
  };
  for (NodeIndex node = 0; node < static_cast<NodeIndex>(cluster.nodes().size()); ++node) {
    // A node with the same free as one before it is never better.
    if (alike >= 0 && same_free(node, alike)) continue;
    const Node& spec = cluster.nodes()[static_cast<std::size_t>(node)];
    if (spec.type != type || used(node)) continue;
    if (unit_demand.gpus > 0 || unit_demand.cpus > 0) alike = node;
    const std::int32_t room =
        free.Capacity(node, unit_demand, spec.capacity.gpus + spec.capacity.cpus);
    if (room >= count && (tightest.node < 0 || room < tightest_room)) {
      tightest = {node, count};
      tightest_room = room;
      if (room == count) break;
    }
    if (room > emptiest.units) emptiest = {node, room};
  }
  return tightest.node >= 0 ? tightest : emptiest;
}
}  // namespace

bool PackedChooser::Choose(const ClusterSpec& cluster, FreeMap& free, GpuTypeIndex type,
                           const Resources& unit_demand, std::int32_t count,
                           std::span<const NodeShare> held, std::vector<UnitShare>* chosen) {
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
  const bool whole_gpus = unit_demand == Resources{1, 0};
  while (count > 0) {
    const Found found = whole_gpus ? ByIndex(free, type, count, used)
                                   : ByWalk(cluster, free, type, unit_demand, count, used);
    if (found.node < 0) return false;
    chosen->push_back({found.node, found.units});
    count -= found.units;
  }
  return true;
}

}  // namespace allot
