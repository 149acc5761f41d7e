#include "cluster/topology.h"

#include <gtest/gtest.h>

#include "cluster/topology_text.h"
#include "core/error.h"

namespace allot {
namespace {

ClusterSpec Of(const std::string& nodes, const std::string& topology) {
  ClusterSpec cluster = ClusterSpec::Parse(nodes);
  ReadReport report;
  cluster.SetTopology(ParseTopology(topology, cluster, &report));
  return cluster;
}

std::string ErrorOf(const std::string& topology) {
  try {
    Of("16x8", topology);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    return error.what();
  }
  return "";
}

// GPUs 0 to n - 1 of each node.
std::vector<NodeShare> Shares(const std::vector<std::pair<NodeIndex, GpuCount>>& nodes) {
  std::vector<NodeShare> shares;
  shares.reserve(nodes.size());
  for (const auto& [node, gpus] : nodes) shares.push_back({node, UnitCounts(gpus), GpuMask(gpus)});
  return shares;
}

constexpr const char* kTwoLevels = "leaf=4:factor=5:uplink=2,pod=8:factor=6:uplink=3,all:factor=9";

TEST(TopologyTest, SizesDivideTheNodesInOrder) {
  const ClusterSpec cluster = Of("10x8", "leaf=4");
  const Topology& topology = *cluster.topology();
  EXPECT_EQ(topology.top(), 2);
  EXPECT_EQ(topology.level(1).name, "leaf");
  EXPECT_EQ(topology.domains(1), 3);  // the last leaf has two nodes
  EXPECT_EQ(topology.DomainOf(1, 7), 1);
  EXPECT_EQ(topology.NodesOf(1, 2).size(), 2u);
  EXPECT_EQ(topology.domains(2), 1);
}

TEST(TopologyTest, DefaultsAreThoseOfTheText) {
  const ClusterSpec cluster = Of("16x8", "leaf=4,pod=8");
  const Topology& topology = *cluster.topology();
  EXPECT_EQ(topology.level(1).factor, 8);
  EXPECT_EQ(topology.level(1).uplink, 2);
  EXPECT_DOUBLE_EQ(topology.level(2).factor, 9.6);
  EXPECT_EQ(topology.level(2).uplink, 4);
  EXPECT_DOUBLE_EQ(topology.level(3).factor, 11.52);
  EXPECT_EQ(topology.rails(), 1);
}

TEST(TopologyTest, TheLevelOfAJobIsTheLowestThatHoldsIt) {
  const ClusterSpec cluster = Of("16x8", kTwoLevels);
  const Topology& topology = *cluster.topology();
  EXPECT_EQ(topology.LevelOf(Shares({{3, 8}})), 0);
  EXPECT_EQ(topology.LevelOf(Shares({{0, 8}, {3, 8}})), 1);
  EXPECT_EQ(topology.LevelOf(Shares({{3, 8}, {4, 8}})), 2);
  EXPECT_EQ(topology.LevelOf(Shares({{0, 8}, {4, 8}, {8, 8}})), 3);
}

TEST(TopologyTest, TheIdealLevelIsTheLowestWithADomainLargeEnough) {
  const ClusterSpec cluster = Of("16x8", kTwoLevels);
  const Topology& topology = *cluster.topology();
  EXPECT_EQ(topology.IdealLevel(0, 8), 0);
  EXPECT_EQ(topology.IdealLevel(0, 32), 1);
  EXPECT_EQ(topology.IdealLevel(0, 33), 2);
  EXPECT_EQ(topology.IdealLevel(0, 128), 3);
}

TEST(TopologyTest, TheFactorIsRelativeToTheIdealLevel) {
  const ClusterSpec cluster = Of("16x8", kTwoLevels);
  const Topology& topology = *cluster.topology();
  EXPECT_EQ(topology.LevelFactor(0, Shares({{0, 8}}), false), 1);
  EXPECT_EQ(topology.LevelFactor(0, Shares({{0, 4}, {1, 4}}), false), 5);
  EXPECT_EQ(topology.LevelFactor(0, Shares({{0, 8}, {1, 8}}), false), 1);
  EXPECT_DOUBLE_EQ(topology.LevelFactor(0, Shares({{3, 8}, {4, 8}}), false), 1.2);
}

TEST(TopologyTest, RatesThatTellNodesApartHaveTheFirstFactorAlready) {
  const ClusterSpec cluster = Of("16x8", kTwoLevels);
  const Topology& topology = *cluster.topology();
  EXPECT_EQ(topology.LevelFactor(0, Shares({{0, 4}, {1, 4}}), true), 1);
  EXPECT_DOUBLE_EQ(topology.LevelFactor(0, Shares({{3, 4}, {4, 4}}), true), 1.2);
}

TEST(TopologyTest, GangsOnPartsOfNodesLoseRails) {
  const ClusterSpec cluster = Of("16x8", "leaf=8:factor=5,node:rails=4");
  const Topology& topology = *cluster.topology();
  EXPECT_EQ(topology.LevelFactor(0, Shares({{0, 8}, {1, 8}}), false), 1);
  EXPECT_EQ(topology.LevelFactor(0, Shares({{0, 8}, {1, 4}, {2, 4}}), false), 2);
  EXPECT_EQ(topology.LevelFactor(0, Shares({{0, 8}, {1, 7}, {2, 1}}), false), 4);
  EXPECT_EQ(topology.LevelFactor(0, Shares({{0, 6}, {1, 6}}), false), 1);  // 12 GPUs need two nodes
}

TEST(TopologyTest, ItsTextReadsBackToTheSameValue) {
  const ClusterSpec cluster = Of("10x8", "leaf=4:factor=5:uplink=2,all:factor=6,node:rails=4");
  const std::string text = cluster.topology()->ToString();
  EXPECT_EQ(Of("10x8", text).topology()->ToString(), text);
}

TEST(TopologyTest, RefusesWhatIsNoTree) {
  EXPECT_EQ(ErrorOf("leaf=4,leaf=8"), "topology: a level has one name, 'leaf' appears twice");
  EXPECT_EQ(ErrorOf("leaf=4:uplink=0"),
            "topology: the uplink of 'leaf' must be a number > 0, got '0'");
  EXPECT_EQ(ErrorOf("leaf=4,pod=6"),
            "topology: a domain of a level holds whole domains of the level below: 6 nodes of "
            "'pod', 4");
  EXPECT_EQ(ErrorOf("leaf=4:factor=8,pod=8:factor=2"),
            "topology: factors must not fall: 2 of 'pod' after 8 of 'leaf'");
  EXPECT_EQ(ErrorOf("leaf=4:speed=2"),
            "topology: a level has 'factor' and 'uplink' ('all' a factor, 'node' rails), got "
            "'speed' in 'leaf=4:speed=2'");
  EXPECT_EQ(ErrorOf("leaf=0"),
            "topology: a domain of 'leaf' has a whole number of nodes >= 1, got '0'");
}

}  // namespace
}  // namespace allot
