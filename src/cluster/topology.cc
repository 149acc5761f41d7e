#include "cluster/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <utility>

#include "cluster/cluster_spec.h"
#include "core/check.h"
#include "core/index.h"
#include "core/strings.h"

namespace allot {

Topology::Topology(std::vector<TopologyLevel> levels, std::vector<std::vector<Domain>> domains,
                   double all_factor, double rails, const ClusterSpec& cluster)
    : rails_(rails) {
  ALLOT_CHECK_EQ(levels.size(), domains.size());
  const std::size_t nodes = cluster.nodes().size();
  levels_ = std::move(levels);
  levels_.insert(levels_.begin(), {.name = "node"});
  levels_.push_back({.name = "all", .factor = all_factor});
  std::vector<Domain> each(nodes);
  std::iota(each.begin(), each.end(), 0);
  domain_ = std::move(domains);
  domain_.insert(domain_.begin(), each);
  domain_.emplace_back(nodes, 0);
  for (std::vector<Domain>& of_level : domain_) {
    ALLOT_CHECK_EQ(of_level.size(), nodes);
    std::map<Domain, Domain> number;
    auto& members = nodes_.emplace_back();
    std::vector<GpuCount>& most = most_gpus_.emplace_back(cluster.types().size(), 0);
    for (std::size_t node = 0; node < nodes; ++node) {
      const auto [at, is_new] = number.emplace(of_level[node], static_cast<Domain>(members.size()));
      if (is_new) members.emplace_back();
      of_level[node] = at->second;
      members[At(at->second)].push_back(static_cast<NodeIndex>(node));
    }
    const std::size_t below = nodes_.size() - 2;
    auto& children = children_.emplace_back(members.size());
    for (const std::vector<NodeIndex>& in_domain : members) {
      if (nodes_.size() > 1) {
        std::vector<Domain>& of_domain =
            children[static_cast<std::size_t>(&in_domain - members.data())];
        for (const NodeIndex node : in_domain) of_domain.push_back(domain_[below][At(node)]);
        std::sort(of_domain.begin(), of_domain.end());
        of_domain.erase(std::unique(of_domain.begin(), of_domain.end()), of_domain.end());
      }
      std::vector<GpuCount> gpus(most.size(), 0);
      for (const NodeIndex node : in_domain) {
        const Node& spec = cluster.nodes()[At(node)];
        gpus[At(spec.type)] += spec.capacity.gpus;
      }
      for (std::size_t type = 0; type < most.size(); ++type) {
        most[type] = std::max(most[type], gpus[type]);
      }
    }
  }
}

int Topology::LevelOf(std::span<const NodeShare> shares) const {
  int level = 0;
  for (std::size_t i = 1; i < shares.size(); ++i) {
    while (DomainOf(level, shares[i].node) != DomainOf(level, shares[0].node)) ++level;
  }
  return level;
}

int Topology::IdealLevel(GpuTypeIndex type, GpuCount gpus) const {
  int level = 0;
  while (level < top() && most_gpus_[At(level)][At(type)] < gpus) ++level;
  return level;
}

double Topology::LevelFactor(GpuTypeIndex type, std::span<const NodeShare> shares,
                             bool measures_nodes) const {
  if (shares.size() < 2) return 1;
  GpuCount gpus = 0;
  GpuCount thinnest = kMaxGpusPerNode;
  for (const NodeShare& share : shares) {
    const GpuCount on_node = std::popcount(share.gpus);
    gpus += on_node;
    thinnest = std::min(thinnest, on_node);
  }
  const int lowest = measures_nodes ? 1 : 0;
  const int level = std::max(lowest, LevelOf(shares));
  const int ideal = std::max(lowest, IdealLevel(type, gpus));
  return levels_[At(level)].factor / levels_[At(ideal)].factor * RailFactor(type, gpus, thinnest);
}

double Topology::RailFactor(GpuTypeIndex type, GpuCount gpus, GpuCount thinnest) const {
  const GpuCount node_gpus = most_gpus_[0][At(type)];
  if (rails_ <= 1 || gpus <= node_gpus || thinnest == 0) return 1;
  const GpuCount fewest_nodes = (gpus + node_gpus - 1) / node_gpus;
  const double ideal = static_cast<double>(gpus) / fewest_nodes;
  return std::clamp(ideal / thinnest, 1.0, rails_);
}

std::string Topology::ToString() const {
  std::vector<std::string> columns = {fmt::format("node:rails={}", rails_)};
  for (int i = 1; i < top(); ++i) {
    columns.push_back(
        fmt::format("{}:factor={}:uplink={}", level(i).name, level(i).factor, level(i).uplink));
  }
  columns.push_back(fmt::format("all:factor={}", level(top()).factor));
  std::string text = Join(columns, ",") + "\n";
  for (std::size_t node = 0; node < domain_[0].size(); ++node) {
    std::vector<std::string> row;
    row.reserve(At(top()));
    for (int i = 0; i < top(); ++i) row.push_back(fmt::format("{}", domain_[At(i)][node]));
    text += Join(row, ",") + ",\n";
  }
  return text;
}

}  // namespace allot
