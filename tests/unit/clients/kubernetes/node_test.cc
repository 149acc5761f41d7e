#include "clients/kubernetes/node.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/file.h"

namespace allot {
namespace {

using Json = nlohmann::json;

// As a real API server gave it.
Json RecordedNode(std::size_t i) {
  return Json::parse(ReadTextFile(ALLOT_TEST_DATA "/kubernetes/nodes.json")).at("items").at(i);
}

KubeNode Read(const Json& node) { return ReadKubeNode(node, {}); }

TEST(KubeNodes, OfARealServerHaveTypeAndGpus) {
  const KubeNode node = Read(RecordedNode(1));
  EXPECT_EQ(node.name, "n2");
  EXPECT_EQ(node.gpu_type, "k80");
  EXPECT_EQ(node.gpus, 8);
  EXPECT_EQ(node.cpus, 64);
  EXPECT_TRUE(node.ready);
  EXPECT_FALSE(node.cordoned || node.parts || node.closed || node.fault);
}

TEST(KubeNodes, WhereNothingMayStartAreClosed) {
  const auto closed = [](const Json& spec, const NodeReading& reading = {}) {
    Json node = RecordedNode(0);
    node["spec"] = spec;
    return ReadKubeNode(node, reading).closed.value_or("open");
  };
  const Json taint = {{"key", "gpu"}, {"effect", "NoSchedule"}};
  const Json gpus = {{"key", "nvidia.com/gpu"}, {"effect", "NoSchedule"}};
  EXPECT_EQ(closed({{"unschedulable", true}}), "unschedulable (cordoned)");
  EXPECT_EQ(closed({{"taints", {taint}}}), "tainted gpu:NoSchedule");
  EXPECT_EQ(closed({{"taints", {taint}}}, {.tolerated = {"gpu"}}), "open");
  EXPECT_EQ(closed({{"taints", {{{"key", "a"}, {"effect", "NoExecute"}}}}}), "tainted a:NoExecute");
  EXPECT_EQ(closed({{"taints", {{{"key", "a"}, {"effect", "PreferNoSchedule"}}}}}), "open");
  EXPECT_EQ(closed({{"taints", {gpus}}}), "open") << "jobs that ask for GPUs tolerate it";
  EXPECT_EQ(closed({{"taints", {gpus}}}, {.tolerated = {}}), "tainted nvidia.com/gpu:NoSchedule");
}

TEST(KubeNodes, ThatAreCalledBackSayWhen) {
  Json node = RecordedNode(0);
  node["metadata"]["annotations"][kRecallAt] = "1970-01-02T00:00:00Z";
  EXPECT_EQ(Read(node).recall_at, 86400);
  EXPECT_FALSE(Read(node).recall_until.has_value());
  node["metadata"]["annotations"][kRecallUntil] = "1970-01-03T00:00:00Z";
  EXPECT_EQ(Read(node).recall_until, 2 * 86400);
  EXPECT_FALSE(Read(node).leaving || Read(node).closed) << "not yet";
  node["metadata"]["annotations"][kRecallAt] = "tomorrow";
  EXPECT_FALSE(Read(node).recall_at.has_value());
  EXPECT_EQ(Read(node).fault->got, "\"tomorrow\"");
}

TEST(KubeNodes, ThatAutoscalersAndCloudsTakeAwayAreLeaving) {
  for (const char* key :
       {"ToBeDeletedByClusterAutoscaler", "karpenter.sh/disrupted",
        "aws-node-termination-handler/spot-itn", "cloud.google.com/impending-node-termination"}) {
    Json node = RecordedNode(0);
    node["spec"]["taints"] = {{{"key", key}, {"effect", "NoSchedule"}}};
    EXPECT_TRUE(Read(node).leaving) << key;
    EXPECT_TRUE(Read(node).closed.has_value()) << key;
  }
}

TEST(KubeNodes, ThatAreNotReadyAreClosedToo) {
  Json node = RecordedNode(0);
  node["status"]["conditions"][0]["status"] = "Unknown";
  EXPECT_FALSE(Read(node).ready);
  EXPECT_EQ(Read(node).closed, "not ready");
  node["status"].erase("conditions");
  EXPECT_FALSE(Read(node).closed) << "an export that does not say";
}

TEST(KubeNodes, TypeAndResourceAreAsTheDaemonIsTold) {
  Json node = RecordedNode(0);
  node["metadata"]["labels"]["pool"] = "A100-big";
  node["status"]["allocatable"]["amd.com/gpu"] = "2";
  const KubeNode read = ReadKubeNode(node, {.gpus = {"amd.com/gpu"}, .type_label = "pool"});
  EXPECT_EQ(read.gpu_type, "A100-big");
  EXPECT_EQ(read.gpus, 2);
}

TEST(KubeNodes, AmountsThatAreNoneCountAsNothing) {
  Json node = RecordedNode(0);
  node["status"]["allocatable"] = {{"cpu", "63500m"}, {"memory", "4Gi"}, {"nvidia.com/gpu", "x"}};
  const KubeNode read = Read(node);
  EXPECT_EQ(read.gpus, 0);
  EXPECT_EQ(read.cpus, 63);
  EXPECT_EQ(read.memory_mib, 4096);
  ASSERT_TRUE(read.fault);
  EXPECT_EQ(read.fault->rule, "GPUs must be a whole number >= 0");
}

}  // namespace
}  // namespace allot
