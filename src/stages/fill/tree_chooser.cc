#include "stages/fill/tree_chooser.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/index.h"

namespace allot {

bool TreeChooser::Choose(const ClusterSpec& cluster, FreeMap& free, GpuTypeIndex type,
                         const Resources& unit_demand, std::int32_t count,
                         std::span<const NodeShare> held, std::vector<UnitShare>* chosen) {
  const Topology* const topology = cluster.topology();
  if (topology == nullptr || !(unit_demand == Resources{1, 0})) {
    return packed_.Choose(cluster, free, type, unit_demand, count, held, chosen);
  }
  const DomainRooms& domains = free.domains();
  const GpuCount node_gpus = domains.node_gpus(type);
  const auto any = [](NodeIndex) { return true; };
  for (GpuCount room = count; room <= node_gpus; ++room) {
    if (room == node_gpus) {
      const Topology::Domain domain = domains.Tightest(type, 1, 1);
      if (domain < 0) break;
      TakeNodes(cluster, free, type, 1, domain, 1, chosen);
      chosen->back().units = count;
      return true;
    }
    const NodeIndex node = free.rooms().First(type, room, any);
    if (node < 0) continue;
    chosen->push_back({node, count});
    return true;
  }
  const std::int32_t nodes = (count + node_gpus - 1) / node_gpus;
  parts_.clear();
  for (int level = 1; level <= topology->top(); ++level) {
    const Topology::Domain domain = domains.Tightest(type, level, nodes);
    if (domain >= 0) {
      TakeWhole(cluster, free, type, level, domain, count, chosen);
      if (!parts_.empty() &&
          FactorOf(*topology, type, parts_) <= FactorOf(*topology, type, *chosen)) {
        *chosen = parts_;
      }
      return true;
    }
    if (!parts_.empty()) continue;
    TakeParts(cluster, free, type, level, count);
    // Without rails nothing above is faster.
    if (!parts_.empty() && topology->rails() <= 1) break;
  }
  *chosen = parts_;
  return !parts_.empty();
}

double TreeChooser::FactorOf(const Topology& topology, GpuTypeIndex type,
                             std::span<const UnitShare> units) {
  shares_.clear();
  for (const UnitShare& share : units) {
    shares_.push_back({share.node, UnitCounts(share.units), GpuMask(share.units)});
  }
  return topology.LevelFactor(type, shares_, false);
}

void TreeChooser::TakeWhole(const ClusterSpec& cluster, FreeMap& free, GpuTypeIndex type, int level,
                            Topology::Domain domain, std::int32_t count,
                            std::vector<UnitShare>* chosen) {
  const GpuCount node_gpus = free.domains().node_gpus(type);
  const std::int32_t rest = count % node_gpus;
  TakeNodes(cluster, free, type, level, domain, (count + node_gpus - 1) / node_gpus, chosen);
  if (rest == 0) return;
  chosen->back().units = rest;
  // A part of a node in the same level-1 domain as the last one leaves that one whole.
  const Topology& topology = *cluster.topology();
  GpuCount least = node_gpus;
  for (const NodeIndex node : topology.NodesOf(1, topology.DomainOf(1, chosen->back().node))) {
    const GpuCount room = free.free_gpus(node);
    if (cluster.nodes()[At(node)].type != type || room < rest || room >= least) continue;
    chosen->back().node = node;
    least = room;
  }
}

void TreeChooser::TakeNodes(const ClusterSpec& cluster, FreeMap& free, GpuTypeIndex type, int level,
                            Topology::Domain domain, std::int32_t nodes,
                            std::vector<UnitShare>* chosen) {
  const Topology& topology = *cluster.topology();
  const DomainRooms& domains = free.domains();
  if (level == 1) {
    const GpuCount node_gpus = domains.node_gpus(type);
    for (const NodeIndex node : topology.NodesOf(1, domain)) {
      if (nodes == 0) return;
      if (cluster.nodes()[At(node)].type != type || free.free_gpus(node) != node_gpus) continue;
      chosen->push_back({node, node_gpus});
      --nodes;
    }
    return;
  }
  std::vector<std::pair<std::int32_t, Topology::Domain>> children;  // the fewest whole nodes first
  for (const Topology::Domain child : topology.ChildrenOf(level, domain)) {
    const std::int32_t whole = domains.whole_nodes(type, level - 1, child);
    if (whole > 0) children.emplace_back(whole, child);
  }
  std::sort(children.begin(), children.end());
  while (nodes > 0) {
    ALLOT_CHECK(!children.empty());  // the domain has so many
    const auto enough = std::lower_bound(children.begin(), children.end(),
                                         std::pair<std::int32_t, Topology::Domain>(nodes, -1));
    const auto next = enough == children.end() ? std::prev(enough) : enough;
    const std::int32_t taken = std::min(nodes, next->first);
    TakeNodes(cluster, free, type, level - 1, next->second, taken, chosen);
    nodes -= taken;
    children.erase(next);
  }
}

bool TreeChooser::TakeParts(const ClusterSpec& cluster, FreeMap& free, GpuTypeIndex type, int level,
                            std::int32_t count) {
  const Topology& topology = *cluster.topology();
  const DomainRooms& domains = free.domains();
  GpuCount least = 0;
  for (Topology::Domain domain = 0; domain < topology.domains(level); ++domain) {
    const GpuCount room = domains.free_gpus(type, level, domain);
    if (room < count) continue;
    of_domain_.clear();
    for (const NodeIndex node : topology.NodesOf(level, domain)) {
      const GpuCount gpus = free.free_gpus(node);
      if (gpus > 0 && cluster.nodes()[At(node)].type == type) of_domain_.push_back({node, gpus});
    }
    std::stable_sort(of_domain_.begin(), of_domain_.end(),
                     [](const UnitShare& a, const UnitShare& b) { return a.units > b.units; });
    std::int32_t left = count;
    std::size_t nodes = 0;
    while (left > 0) {
      UnitShare& share = of_domain_[nodes++];
      share.units = std::min(share.units, left);
      left -= share.units;
    }
    of_domain_.resize(nodes);
    if (!parts_.empty() && std::pair(parts_.size(), least) <= std::pair(nodes, room)) {
      continue;
    }
    parts_ = of_domain_;
    least = room;
  }
  return !parts_.empty();
}

}  // namespace allot
