#include "live/runtimes/kubernetes/shown_nodes.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

nlohmann::json Node(const std::string& name, int gpus, bool cordoned = false) {
  return {{"metadata", {{"name", name}, {"uid", name}, {"resourceVersion", "1"}}},
          {"spec", {{"unschedulable", cordoned}}},
          {"status", {{"allocatable", {{"nvidia.com/gpu", std::to_string(gpus)}}}}}};
}

void Read(const std::vector<nlohmann::json>& cluster, ShownNodes* nodes) {
  ObjectStore<KubeNode> store([](const nlohmann::json& node) { return ReadKubeNode(node, {}); });
  store.Replace(cluster, 1);
  nodes->Read(store);
}

TEST(ShownNodes, ANodeThatIsGoneStaysAsDown) {
  ShownNodes nodes;
  Read({Node("n2", 4), Node("n10", 4), Node("cpu", 0)}, &nodes);
  Read({Node("n10", 4)}, &nodes);
  ASSERT_EQ(nodes.all().size(), 2);
  EXPECT_EQ(nodes.all()[0].name, "n2");
  EXPECT_FALSE(nodes.all()[0].up());
  EXPECT_TRUE(nodes.all()[1].up());
  EXPECT_EQ(nodes.Find("n2"), nullptr);
  EXPECT_EQ(nodes.GpuTypes(), std::vector<std::string>{"gpu"});
}

TEST(ShownNodes, ANodeHasTheGpusThatItAdvertisesNow) {
  ShownNodes nodes;
  for (const int gpus : {4, 3, 0, 8}) {
    Read({Node("n1", gpus)}, &nodes);
    EXPECT_TRUE(nodes.all()[0].up());
    EXPECT_EQ(nodes.all()[0].capacity.gpus, gpus);
  }
}

TEST(ShownNodes, ANodeThatIsAboutToGoIsDrainedAndNotDown) {
  ShownNodes nodes;
  nlohmann::json node = Node("n1", 4);
  node["spec"]["taints"] = {{{"key", "disk"}, {"effect", "NoSchedule"}}};
  Read({node}, &nodes);
  EXPECT_EQ(nodes.all()[0].state, NodeState::kDown);
  node["spec"]["taints"] = {{{"key", "karpenter.sh/disrupted"}, {"effect", "NoSchedule"}}};
  Read({node}, &nodes);
  EXPECT_EQ(nodes.all()[0].state, NodeState::kDrained);
}

TEST(ShownNodes, ANodeIsRecalledAsItsAnnotationSays) {
  ShownNodes nodes;
  nlohmann::json node = Node("n1", 4);
  node["metadata"]["annotations"][kRecallAt] = "1970-01-02T00:00:00Z";
  Read({node}, &nodes);
  EXPECT_TRUE(nodes.all()[0].up());
  EXPECT_EQ(nodes.all()[0].recall, (NodeRecall{.from = 86400}));
  Read({Node("n1", 4)}, &nodes);
  EXPECT_FALSE(nodes.all()[0].recall.has_value());
}

TEST(ShownNodes, APodIsLostWithItsNode) {
  ShownNodes nodes;
  Read({Node("n1", 4, true)}, &nodes);
  WorkerPod pod;
  pod.node = "n1";
  pod.deleting = true;
  EXPECT_FALSE(nodes.HaveLost(pod));
  pod.node = "n2";
  EXPECT_TRUE(nodes.HaveLost(pod));
}

}  // namespace
}  // namespace allot
