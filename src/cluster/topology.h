#pragma once
// The network of a cluster as a tree: which nodes lie below which leaf switch, pod or rack, how
// much slower communication is across them, and how much of it their uplinks carry. A value that
// belongs to a ClusterSpec, whose nodes it numbers; a cluster without one has no network
// (ClusterSpec::topology() is null).
//
// Level 0 is the node, levels 1 to top() - 1 have names ("leaf", "pod", an NVLink rack), and level
// top() is the whole cluster. A domain is one leaf, one pod; domains of a level have their nodes in
// any order, and a node without a label is a domain of its own. Factors, uplinks and what they
// mean: docs/topology.md.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cluster/allocation.h"
#include "core/types.h"

namespace allot {

class ClusterSpec;

struct TopologyLevel {
  std::string name;
  double factor = 1;  // time of communication between its nodes over that in one node, >= 1
  double uplink = 0;  // of each domain towards all others, in nodes' bandwidths, > 0
};

class Topology {
 public:
  using Domain = std::int32_t;

  // Levels 1 to top() - 1 from below, with the domain of each node, in any numbers: equal ones are
  // one domain. `all_factor` is of the whole cluster, `rails` as RailFactor says. The contract
  // (checked by the reader, cluster/topology_text.h): factors do not fall from level to level.
  Topology(std::vector<TopologyLevel> levels, std::vector<std::vector<Domain>> domains,
           double all_factor, double rails, const ClusterSpec& cluster);

  int top() const { return static_cast<int>(levels_.size()) - 1; }
  const TopologyLevel& level(int level) const { return levels_[static_cast<std::size_t>(level)]; }
  double rails() const { return rails_; }

  // Domains of a level are numbered from 0 by their first node, but for levels 0 and top().
  Domain domains(int level) const {
    return static_cast<Domain>(nodes_[static_cast<std::size_t>(level)].size());
  }
  Domain DomainOf(int level, NodeIndex node) const {
    return domain_[static_cast<std::size_t>(level)][static_cast<std::size_t>(node)];
  }
  std::span<const NodeIndex> NodesOf(int level, Domain domain) const {
    return nodes_[static_cast<std::size_t>(level)][static_cast<std::size_t>(domain)];
  }

  // The domains of the level below, from 1 on, ascending.
  std::span<const Domain> ChildrenOf(int level, Domain domain) const {
    return children_[static_cast<std::size_t>(level)][static_cast<std::size_t>(domain)];
  }

  // The lowest level with a domain that holds all these nodes. O(nodes x levels).
  int LevelOf(std::span<const NodeShare> shares) const;
  // The lowest level at which so many GPUs of the type lie in one domain of the whole cluster.
  int IdealLevel(GpuTypeIndex type, GpuCount gpus) const;

  // PlaceFactors::level of these GPUs: the factor of their level over that of the ideal one, and
  // the rails. `measures_nodes`: the job's rates tell one node from several, so that the factor of
  // level 1 is in them.
  double LevelFactor(GpuTypeIndex type, std::span<const NodeShare> shares,
                     bool measures_nodes) const;

  // The text that Parse (cluster/topology_text.h) reads back to an equal value.
  std::string ToString() const;

 private:
  // Of a gang on more than one node with fewer GPUs on its thinnest node than it need have: it has
  // one network rail for each of these, so that the factor is their ratio, at most rails().
  double RailFactor(GpuTypeIndex type, GpuCount gpus, GpuCount thinnest) const;

  std::vector<TopologyLevel> levels_;                       // 0 to top()
  std::vector<std::vector<Domain>> domain_;                 // [level][node]
  std::vector<std::vector<std::vector<NodeIndex>>> nodes_;  // [level][domain]
  std::vector<std::vector<std::vector<Domain>>> children_;  // [level][domain]
  std::vector<std::vector<GpuCount>> most_gpus_;            // [level][type] of one domain
  double rails_;
};

}  // namespace allot
