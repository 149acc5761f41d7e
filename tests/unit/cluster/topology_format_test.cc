// Files of topologies: all formats to the same value, and what they refuse.

#include "cluster/topology_format.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/error.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

// Four nodes in two leaves.
ClusterSpec NamedNodes() {
  ClusterSpec cluster;
  for (const char* name : {"n1", "n2", "n3", "n4"}) {
    cluster.AddNodes(1, {.gpus = 8, .cpus = 64}, "gpu");
    cluster.NameLastNode(name);
  }
  return cluster;
}

struct Read {
  std::shared_ptr<const Topology> topology;
  ReadReport report;
  std::string error;
};

Read ReadText(const std::string& text, const ClusterSpec& cluster = NamedNodes(),
              const std::string& overrides = "") {
  const testing_support::TempFolder folder;
  const std::string path = (folder / "topology").string();
  std::ofstream(path) << text;
  Read read;
  try {
    read.topology = ParseTopology(path + overrides, cluster, &read.report);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kBadData);
    read.error = error.what();
    const std::size_t at = read.error.find(path);
    for (std::size_t p = at; p != std::string::npos; p = read.error.find(path)) {
      read.error.replace(p, path.size(), "FILE");
    }
  }
  return read;
}

// Domains of each level by node.
std::vector<std::vector<int>> DomainsOf(const std::shared_ptr<const Topology>& topology) {
  std::vector<std::vector<int>> domains;
  if (topology == nullptr) return domains;
  for (int level = 1; level < topology->top(); ++level) {
    auto& of_level = domains.emplace_back();
    for (NodeIndex node = 0; node < 4; ++node) of_level.push_back(topology->DomainOf(level, node));
  }
  return domains;
}

const std::vector<std::vector<int>> kTwoLeaves = {{0, 0, 1, 1}};

std::string Nodes(const std::string& label, const std::vector<std::string>& values) {
  std::string items;
  for (std::size_t i = 0; i < values.size(); ++i) {
    items += (i == 0 ? "" : ",\n") +
             std::string(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n)") +
             std::to_string(i + 1) + R"(","labels":{)" +
             (values[i].empty() ? "" : "\"" + label + "\":\"" + values[i] + "\"") + "}}}";
  }
  return items;
}

std::string List(const std::string& items) {
  return "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n" + items + "]}";
}

TEST(TopologyFormats, AllotsOwnCsvHasAColumnALevel) {
  const Read read = ReadText("node,leaf:factor=5:uplink=2\nn1,a\nn2,a\nn3,b\nn4,b\n");
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(DomainsOf(read.topology), kTwoLeaves);
  EXPECT_EQ(read.topology->level(1).factor, 5);
}

TEST(TopologyFormats, SlurmsTreeOfSwitches) {
  const Read read = ReadText(
      "# two leaves\nSwitchName=top Switches=s[1-2]\nSwitchName=s1 Nodes=n[1-2]\n"
      "SwitchName=s2 Nodes=n3,n4 LinkSpeed=100\n");
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(DomainsOf(read.topology), kTwoLeaves);
  EXPECT_EQ(read.topology->level(1).name, "leaf");
}

TEST(TopologyFormats, SlurmsBlocks) {
  const Read read =
      ReadText("BlockName=b1 Nodes=n[1-2]\nBlockName=b2 \\\n  Nodes=n[3-4]\nBlockSizes=2,4\n");
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(DomainsOf(read.topology), kTwoLeaves);
  EXPECT_EQ(read.topology->level(1).name, "block");
}

TEST(TopologyFormats, SlurmsYamlOfItsDefaultTopology) {
  const Read tree = ReadText(
      "---\n- topology: flat\n  cluster_default: false\n  flat: true\n"
      "- topology: mine\n  cluster_default: true\n  tree:\n    switches:\n"
      "      - switch: top\n        children: s[1-2]\n"
      "      - switch: s1\n        nodes: n[1-2]\n      - switch: s2\n        nodes: n[3-4]\n");
  EXPECT_EQ(tree.error, "");
  EXPECT_EQ(DomainsOf(tree.topology), kTwoLeaves);
  const Read block = ReadText(
      "- topology: mine\n  cluster_default: true\n  block:\n    block_sizes:\n      - 2\n"
      "      - 4\n    blocks:\n      - block: b1\n        nodes: n[1-2]\n      - block: b2\n"
      "        nodes: n[3-4]\n");
  EXPECT_EQ(block.error, "");
  EXPECT_EQ(DomainsOf(block.topology), kTwoLeaves);
}

TEST(TopologyFormats, KueuesAndKaisTopologyNameTheLabels) {
  for (const char* version : {"kueue.x-k8s.io/v1beta1", "kai.scheduler/v1alpha1"}) {
    const Read read =
        ReadText(List("{\"apiVersion\":\"" + std::string(version) +
                      "\",\"kind\":\"Topology\",\"spec\":{\"levels\":[{\"nodeLabel\":\"my/rack\"},"
                      "{\"nodeLabel\":\"kubernetes.io/hostname\"}]}},\n" +
                      Nodes("my/rack", {"a", "a", "b", "b"})));
    EXPECT_EQ(read.error, "");
    EXPECT_EQ(DomainsOf(read.topology), kTwoLeaves);
    EXPECT_EQ(read.topology->level(1).name, "rack");
  }
}

TEST(TopologyFormats, LabelsThatAreKnownNeedNoTopologyObject) {
  for (const char* label :
       {"topology.kubernetes.io/zone", "cloud.provider.com/topology-block",
        "cloud.provider.com/topology-rack", "network.topology.nvidia.com/leaf",
        "network.topology.nvidia.com/accelerator", "fabric.topograph.run/tier-0",
        "accelerator.topograph.run/domain", "ds.coreweave.com/nvlink.domain"}) {
    const Read read = ReadText(List(Nodes(label, {"a", "a", "b", "b"})));
    EXPECT_EQ(read.error, "") << label;
    EXPECT_EQ(DomainsOf(read.topology), kTwoLeaves) << label;
  }
}

TEST(TopologyFormats, ANodeWithoutALabelIsADomainOfItsOwnAndReported) {
  const Read read = ReadText(List(Nodes("topology.kubernetes.io/zone", {"a", "a", "", "b"})));
  EXPECT_EQ(DomainsOf(read.topology), (std::vector<std::vector<int>>{{0, 0, 1, 2}}));
  ASSERT_EQ(read.report.adjusted.size(), 1u);
  EXPECT_EQ(read.report.adjusted[0].reason,
            "a node without a label of 'zone' as a domain of its own");
}

TEST(TopologyFormats, NodesWithoutNamesAreTheFilesInItsOrder) {
  const Read read = ReadText("node,leaf\nb,x\na,x\nd,y\nc,y\n", ClusterSpec::Parse("4x8"));
  EXPECT_EQ(DomainsOf(read.topology), kTwoLeaves);
  EXPECT_EQ(ReadText("node,leaf\na,x\nb,y\n", ClusterSpec::Parse("4x8")).error,
            "topology: the nodes of the cluster have no names, so the file must name as many: it "
            "names 2 (a, b), the cluster has 4 (FILE:1)");
}

TEST(TopologyFormats, OptionsAfterTheFileSetItsLevels) {
  const Read read =
      ReadText("node,leaf\nn1,a\nn2,a\nn3,b\nn4,b\n", NamedNodes(), ",leaf:factor=3:uplink=1.5");
  EXPECT_EQ(read.topology->level(1).factor, 3);
  EXPECT_EQ(read.topology->level(1).uplink, 1.5);
}

TEST(TopologyFormats, RefusesFilesThatCannotBe) {
  EXPECT_EQ(ReadText("node,leaf\nn1,a\nn2,a\nn3,b\nn4,b\nn1,b\n").error,
            "topology: a node is in one domain of each level: 'n1' is in 'a' of 'leaf' (FILE:2) "
            "and in 'b' (FILE:6)");
  EXPECT_EQ(ReadText("node,leaf,leaf\nn1,a,a\n").error,
            "topology: a level has one name, 'leaf' appears twice (FILE:1)");
  EXPECT_EQ(ReadText("node,leaf:uplink=0\nn1,a\n").error,
            "topology: the uplink of 'leaf' must be a number > 0, got '0' (FILE:1)");
  EXPECT_EQ(ReadText("node,leaf\nn1,a\nn2,b\nx,b\n").error,
            "topology: every node of the cluster must be in the file: 2 of 4 are not (n3, n4); the "
            "file names 3 (n1, n2, x) (FILE:1)");
  EXPECT_EQ(ReadText("node,leaf,pod\nn1,a,p\nn2,a,q\nn3,b,q\nn4,b,q\n").error,
            "topology: a domain lies in one domain of the level above: 'a' of 'leaf' is in 'p' of "
            "'pod' (FILE:2) and in 'q' (FILE:3)");
  EXPECT_EQ(ReadText("SwitchName=a Switches=b\nSwitchName=b Switches=a\n").error,
            "topology: a switch must not lie below itself: a -> b -> a (FILE:1)");
  EXPECT_EQ(ReadText("SwitchName=a Switches=b,c\nSwitchName=b Nodes=n[1-4]\n").error,
            "topology: every switch must be described, 'c' below 'a' is not (FILE:1)");
  EXPECT_EQ(ReadText("hello\n").error,
            "topology: the file must be in one of the formats allot, kubernetes, slurm-conf, "
            "slurm-yaml (FILE:1)");
}

}  // namespace
}  // namespace allot
