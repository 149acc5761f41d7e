// The choice by indices against a walk over all nodes that follows the same rule.

#include "stages/fill/tree_chooser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "cluster/topology_text.h"
#include "core/rng.h"

namespace allot {
namespace {

constexpr GpuCount kNodeGpus = 8;

ClusterSpec Tree(const std::string& nodes, const std::string& topology) {
  ClusterSpec cluster = ClusterSpec::Parse(nodes);
  ReadReport report;
  cluster.SetTopology(ParseTopology(topology, cluster, &report));
  return cluster;
}

std::vector<std::pair<NodeIndex, int>> Chosen(const ClusterSpec& cluster, FreeMap& free,
                                              std::int32_t gpus) {
  TreeChooser chooser;
  std::vector<UnitShare> chosen;
  std::vector<std::pair<NodeIndex, int>> result;
  if (!chooser.Choose(cluster, free, 0, {1, 0}, gpus, {}, &chosen)) return result;
  for (const UnitShare& share : chosen) result.emplace_back(share.node, share.units);
  std::sort(result.begin(), result.end());
  return result;
}

// The walk: the level, the whole nodes left in the domain, and the number of nodes that the rule
// leads to.
struct Rank {
  int level = 0;
  int whole = 0;
  std::size_t nodes = 0;
  bool operator==(const Rank&) const = default;
};

int WholeIn(const ClusterSpec& cluster, const FreeMap& free, int level, Topology::Domain domain) {
  int whole = 0;
  for (const NodeIndex node : cluster.topology()->NodesOf(level, domain)) {
    whole += free.free_gpus(node) == kNodeGpus ? 1 : 0;
  }
  return whole;
}

std::optional<Rank> Walk(const ClusterSpec& cluster, const FreeMap& free, GpuCount gpus) {
  const Topology& topology = *cluster.topology();
  if (gpus <= kNodeGpus) {
    GpuCount tightest = kNodeGpus + 1;
    for (NodeIndex node = 0; node < topology.domains(0); ++node) {
      if (free.free_gpus(node) >= gpus) tightest = std::min(tightest, free.free_gpus(node));
    }
    if (tightest <= kNodeGpus) return Rank{0, tightest, 1};
  }
  const int needed = (gpus + kNodeGpus - 1) / kNodeGpus;
  for (int level = 1; level <= topology.top(); ++level) {
    std::optional<int> tightest;
    std::optional<std::size_t> fewest;
    for (Topology::Domain domain = 0; domain < topology.domains(level); ++domain) {
      const int whole = WholeIn(cluster, free, level, domain);
      if (whole >= needed && (!tightest || whole < *tightest)) tightest = whole;
      std::vector<GpuCount> rooms;
      for (const NodeIndex node : topology.NodesOf(level, domain)) {
        rooms.push_back(free.free_gpus(node));
      }
      std::sort(rooms.rbegin(), rooms.rend());
      GpuCount left = gpus;
      std::size_t nodes = 0;
      while (left > 0 && nodes < rooms.size()) left -= rooms[nodes++];
      if (left <= 0 && (!fewest || nodes < *fewest)) fewest = nodes;
    }
    if (tightest) return Rank{level, *tightest, static_cast<std::size_t>(needed)};
    if (fewest) return Rank{level, -1, *fewest};
  }
  return std::nullopt;
}

Rank RankOf(const ClusterSpec& cluster, const FreeMap& free, GpuCount gpus,
            const std::vector<std::pair<NodeIndex, int>>& chosen) {
  const Topology& topology = *cluster.topology();
  if (chosen.size() == 1) return {0, free.free_gpus(chosen[0].first), 1};
  std::vector<NodeShare> shares;
  shares.reserve(chosen.size());
  for (const auto& [node, units] : chosen) {
    shares.push_back({node, UnitCounts(units), GpuMask(units)});
  }
  const int level = topology.LevelOf(shares);
  const int whole = WholeIn(cluster, free, level, topology.DomainOf(level, chosen[0].first));
  const bool on_whole = whole >= (gpus + kNodeGpus - 1) / kNodeGpus;
  return {level, on_whole ? whole : -1, chosen.size()};
}

TEST(TreeChooserTest, FindsWhatAWalkFinds) {
  const ClusterSpec cluster = Tree("64x8", "leaf=4,pod=16");
  constexpr GpuCount kSizes[] = {1, 2, 4, 8, 16, 32, 64, 128, 12, 5};
  FreeMap free(cluster);
  Rng rng(1, "tree-chooser-test");
  std::vector<std::vector<NodeShare>> running;
  int compared = 0;
  for (int step = 0; step < 3000; ++step) {
    const GpuCount gpus = kSizes[rng.Below(std::size(kSizes))];
    while (free.total_free(0).gpus < gpus || (!running.empty() && rng.Uniform() < 0.3)) {
      const std::size_t ends = rng.Below(running.size());
      for (const NodeShare& share : running[ends]) {
        free.Release(share.node, share.gpus, {0, 0});
      }
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(ends));
    }
    const auto chosen = Chosen(cluster, free, gpus);
    const auto walk = Walk(cluster, free, gpus);
    ASSERT_EQ(chosen.empty(), !walk.has_value()) << step;
    if (chosen.empty()) continue;
    ASSERT_TRUE(RankOf(cluster, free, gpus, chosen) == *walk) << step << ": " << gpus << " GPUs";
    ++compared;
    auto& shares = running.emplace_back();
    for (const auto& [node, units] : chosen) {
      shares.push_back({node, UnitCounts(units), free.Take(node, {units, 0})});
    }
  }
  EXPECT_GT(compared, 2900);
}

TEST(TreeChooserTest, ASmallJobBreaksANodeOfTheFullestLeaf) {
  const ClusterSpec cluster = Tree("4x8", "leaf=2");
  FreeMap free(cluster);
  free.Take(2, {8, 0});
  EXPECT_EQ(Chosen(cluster, free, 1), (std::vector<std::pair<NodeIndex, int>>{{3, 1}}));
}

TEST(TreeChooserTest, AGangTakesTheTightestLeaf) {
  const ClusterSpec cluster = Tree("9x8", "leaf=3");
  FreeMap free(cluster);
  free.Take(3, {1, 0});
  EXPECT_EQ(Chosen(cluster, free, 16), (std::vector<std::pair<NodeIndex, int>>{{4, 8}, {5, 8}}));
}

TEST(TreeChooserTest, TheRestOfAGangGoesToAPartOfANode) {
  const ClusterSpec cluster = Tree("4x8", "leaf=4");
  FreeMap free(cluster);
  free.Take(2, {3, 0});
  EXPECT_EQ(Chosen(cluster, free, 12), (std::vector<std::pair<NodeIndex, int>>{{0, 8}, {2, 4}}));
}

TEST(TreeChooserTest, WithRailsWholeNodesOfAHigherLevelBeatPartsOfALowerOne) {
  const auto place = [](const std::string& topology) {
    const ClusterSpec cluster = Tree("4x8", topology);
    FreeMap free(cluster);
    for (const NodeIndex node : {0, 2}) free.Take(node, {4, 0});
    return Chosen(cluster, free, 16);
  };
  using Places = std::vector<std::pair<NodeIndex, int>>;
  EXPECT_EQ(place("leaf=2:factor=8,all:factor=9.6,node:rails=4"), (Places{{1, 8}, {3, 8}}));
}

TEST(TreeChooserTest, WithoutATopologyItPacks) {
  const ClusterSpec cluster = ClusterSpec::Parse("4x8");
  FreeMap free(cluster);
  free.Take(1, {4, 0});
  EXPECT_EQ(Chosen(cluster, free, 4), (std::vector<std::pair<NodeIndex, int>>{{1, 4}}));
}

}  // namespace
}  // namespace allot
