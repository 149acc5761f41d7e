#include "cluster/cluster_format.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/error.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

struct ReadNodes {
  ClusterSpec spec;
  ReadReport report;
  std::string error;
};

ReadNodes ReadNodeText(const std::string& text) {
  const testing_support::TempFolder folder;
  const std::string path = (folder / "nodes.txt").string();
  std::ofstream(path) << text;
  ReadNodes read;
  try {
    read.spec = ReadCluster(path, &read.report);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kBadData);
    read.error = error.what();
  }
  return read;
}

std::string LeftOut(const ReadReport& report) {
  std::string text;
  for (const DropCount& drop : report.drops) {
    text += (text.empty() ? "" : "; ") + std::to_string(drop.rows) + " " + drop.reason;
  }
  return text;
}

TEST(ClusterFormats, SinfoListsANodeOncePerPartition) {
  const ReadNodes read = ReadNodeText(
      "NODELIST GRES CPUS MEMORY STATE\n"
      "n1 gpu:A100:4(S:0-1) 64 515000 mix\n"
      "n1 gpu:A100:4(S:0-1) 64 515000 mix\n"
      "n2 gpu:A100:4(S:0-1) 64 515000 idle~\n"
      "n3 gpu:v100:2,gpu:t4:2 32 256000 alloc\n"
      "n4 gpu:v100:4 32 256000 drain*\n"
      "c1 (null) 128 1000000 idle\n");
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.report.format, "sinfo");
  EXPECT_EQ(read.spec.ToString(), "2x4x64x502:a100,1x2x16x125:v100,1x2x16x125:t4");
  EXPECT_EQ(LeftOut(read.report),
            "1 a node that was listed before (in another partition); 1 a node where nothing can "
            "start: drain*; 1 a node without GPUs");
  ASSERT_EQ(read.report.adjusted.size(), 1u);
}

TEST(ClusterFormats, SinfoMayNameManyNodesInALine) {
  const ReadNodes read = ReadNodeText(
      "Mon Nov 23 14:40:39 2026\n"
      "PARTITION|NODELIST|GRES\n"
      "gpu*|n[01-03,07],m1|gpu:8\n");
  EXPECT_EQ(read.spec.ToString(), "5x8");
}

TEST(ClusterFormats, ScontrolPrintsRecords) {
  const ReadNodes read = ReadNodeText(
      "NodeName=n1 Arch=x86_64 CoresPerSocket=32 \n"
      "   CPUAlloc=0 CPUEfctv=62 CPUTot=64 CPULoad=0.10\n"
      "   Gres=gpu:h100:8(S:0-1)\n   RealMemory=1030000 AllocMem=0\n"
      "   State=IDLE+CLOUD+POWERED_DOWN ThreadsPerCore=2\n\n"
      "NodeName=n2 Arch=x86_64 CPUTot=64 Gres=gpu:h100:8 RealMemory=1030000 State=IDLE+DRAIN\n"
      "   Reason=bad GPU [root@2026-11-01T10:00:00]\n");
  EXPECT_EQ(read.report.format, "scontrol");
  EXPECT_EQ(read.spec.ToString(), "1x8x64x1005:h100");
  EXPECT_EQ(LeftOut(read.report), "1 a node where nothing can start: IDLE+DRAIN");
  EXPECT_EQ(read.report.drops[0].example.substr(read.report.drops[0].example.rfind(':')), ":7");
}

TEST(ClusterFormats, SlurmJson) {
  const ReadNodes nodes = ReadNodeText(
      R"({"nodes": [{"name": "n1", "gres": "gpu:a100:4", "cpus": 64, "real_memory": 512000,)"
      R"("state": ["IDLE"]}, {"name": "n2", "gres": "gpu:a100:4", "cpus": 64,)"
      R"("real_memory": 512000, "state": ["DOWN", "DRAIN"]}]})");
  EXPECT_EQ(nodes.spec.ToString(), "1x4x64x500:a100");
  const ReadNodes sinfo =
      ReadNodeText(R"({"sinfo": [{"nodes": {"nodes": ["n1", "n2"]}, "node": {"state": ["MIXED"]},)"
                   R"("gres": {"total": "gpu:a100:4"}, "cpus": {"total": 128, "maximum": 64},)"
                   R"("memory": {"maximum": 512000}}]})");
  EXPECT_EQ(sinfo.spec.ToString(), "2x4x64x500:a100");
}

TEST(ClusterFormats, TablesOfTraces) {
  EXPECT_EQ(ReadNodeText("sn,cpu_milli,memory_mib,gpu,model\n"
                         "openb-node-0000,64000,262144,2,P100\n"
                         "openb-node-0001,96000,786432,8,V100M32\n"
                         "openb-node-0002,96000,786432,0,\n")
                .spec.ToString(),
            "1x2x64x256:p100,1x8x96x768:v100m32");
  EXPECT_EQ(ReadNodeText("num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n"
                         "2,4,8,128,256\n")
                .spec.ToString(),
            "8x8x128x256");
}

TEST(ClusterFormats, KubernetesNodes) {
  const ReadNodes read = ReadNodeText(R"({
 "apiVersion": "v1", "kind": "List",
 "items": [
  {"kind": "Node", "metadata": {"name": "a", "labels":
     {"nvidia.com/gpu.product": "NVIDIA A100-SXM4-80GB"}},
   "status": {"allocatable": {"cpu": "63500m", "memory": "515000000Ki", "nvidia.com/gpu": "8"}}},
  {"kind": "Node", "metadata": {"name": "b"}, "spec": {"unschedulable": true},
   "status": {"capacity": {"cpu": "64", "nvidia.com/gpu": "8"}}},
  {"kind": "Node", "metadata": {"name": "c"}, "status": {"capacity": {"amd.com/gpu": "4"},
   "conditions": [{"type": "Ready", "status": "Unknown"}]}},
  {"kind": "Node", "metadata": {"name": "e"}, "status": {"capacity": {"amd.com/gpu": "4"}},
   "spec": {"taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"},
                       {"key": "team", "value": "b", "effect": "NoSchedule"}]}},
  {"kind": "Node", "metadata": {"name": "d"}, "status": {"capacity": {"cpu": "64"}}}
 ]
})");
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.spec.ToString(), "1x8x63x491:nvidia-a100-sxm4-80gb");
  EXPECT_EQ(LeftOut(read.report),
            "1 a node where nothing can start: unschedulable (cordoned); 1 a node where nothing "
            "can start: not ready; 1 a node where nothing can start: tainted team:NoSchedule; 1 a "
            "node without GPUs");
}

TEST(ClusterFormats, PartsOfGpusAreNoGpus) {
  const ReadNodes slurm = ReadNodeText(
      "NODELIST GRES\nn1 gpu:a100:4\nn2 gpu:1g.5gb:7\nn3 gpu:a100:2,gpu:a100_3g.20gb:4\n");
  EXPECT_EQ(slurm.spec.ToString(), "1x4:a100,1x2:a100");
  EXPECT_EQ(LeftOut(slurm.report), "1 a node with parts of GPUs only (MIG, shared GPUs)");
  ASSERT_EQ(slurm.report.adjusted.size(), 1u);
  const auto node = [](const std::string& name, const std::string& product,
                       const std::string& resource) {
    return R"({"kind": "Node", "metadata": {"name": ")" + name +
           R"(", "labels": {"nvidia.com/gpu.product": ")" + product +
           R"("}}, "status": {"capacity": {")" + resource + R"(": "7"}}})";
  };
  const ReadNodes kubernetes = ReadNodeText(R"({"apiVersion": "v1", "kind": "List", "items": [)" +
                                            node("a", "A100", "nvidia.com/gpu") + ", " +
                                            node("b", "A100-MIG-1g.5gb", "nvidia.com/gpu") + ", " +
                                            node("c", "A100", "nvidia.com/mig-1g.5gb") + ", " +
                                            node("d", "T4-SHARED", "nvidia.com/gpu") + "]}");
  EXPECT_EQ(kubernetes.spec.nodes().size(), 1u);
  EXPECT_EQ(LeftOut(kubernetes.report), "3 a node with parts of GPUs only (MIG, shared GPUs)");
}

TEST(ClusterFormats, KubernetesListsMayFollowOneAnotherAndHoldOtherObjects) {
  const std::string pods = R"({"apiVersion": "v1", "items": [{"kind": "Pod"}], "kind": "List"})";
  const ReadNodes read =
      ReadNodeText(pods + "\n" +
                   R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"},)"
                   R"( "status": {"capacity": {"nvidia.com/gpu": "8"}}})");
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.spec.ToString(), "1x8");
  EXPECT_EQ(LeftOut(read.report), "1 not a node");
}

TEST(ClusterFormats, TheNewestStateOfAKubernetesNodeCounts) {
  const auto node = [](const std::string& version, const std::string& gpus) {
    std::string text = R"({"kind": "Node", "metadata": {"name": "a", "resourceVersion": ")";
    text += version;
    text += R"("}, "status": {"capacity": {"nvidia.com/gpu": ")";
    text += gpus;
    return text + R"("}}})";
  };
  for (const auto& [first, second] : {std::pair(node("99", "4"), node("100", "8")),
                                      std::pair(node("100", "8"), node("99", "4"))}) {
    std::string list = R"({"apiVersion": "v1", "kind": "List", "items": [)";
    for (const std::string& part : {first, std::string(", "), second}) list += part;
    const ReadNodes read = ReadNodeText(list + "]}");
    EXPECT_EQ(read.spec.ToString(), "1x8");
    EXPECT_EQ(LeftOut(read.report), "1 an earlier state of a node (the newest counts)");
  }
}

TEST(ClusterFormats, MemoryStaysWhatAClusterCanHave) {
  const ReadNodes read = ReadNodeText("NODELIST GRES MEMORY\nn1 gpu:4 99999999999\n");
  EXPECT_EQ(ClusterSpec::Parse(read.spec.ToString()).ToString(), "1x4xx1000000");
}

TEST(ClusterFormats, FilesInUtf16) {
  std::string wide = "\xFF\xFE";
  for (const char c : std::string("NODELIST GRES\r\nn1 gpu:4\r\n")) (wide += c) += '\0';
  EXPECT_EQ(ReadNodeText(wide).spec.ToString(), "1x4");
  EXPECT_EQ(ReadNodeText("\xEF\xBB\xBFNodeName=n1 Gres=gpu:4 CPUTot=32\n").spec.ToString(),
            "1x4x32");
}

TEST(ClusterFormats, DeepJsonIsRefused) {
  const std::string deep(100'000, '[');
  EXPECT_NE(ReadNodeText(R"({"nodes": [{"gres": )" + deep).error.find("deeper than 100"),
            std::string::npos);
  EXPECT_NE(ReadNodeText(R"({"apiVersion": "v1", "items": [{"kind": "Node", "a": )" + deep +
                         std::string(100'000, ']') + "}]}")
                .error.find("deeper than 100"),
            std::string::npos);
}

TEST(ClusterFormats, ATableWithACutColumnIsRefused) {
  for (const char* gres : {"gpu:nvidia_h100_80gb", "gpu:a100:", "gpu:", "gpu:a100:8(S:0-",
                           "gpu:a100:4,gpu:v100", "gpu:a100:4,"}) {
    const std::string error =
        ReadNodeText(fmt::format("NODELIST GRES CPUS\nn1 gpu:a100:8(S:0-3) 128\nn2 {} 128\n", gres))
            .error;
    EXPECT_NE(error.find(fmt::format("got '{}' (", gres)), std::string::npos) << error;
    EXPECT_NE(error.find("nodes.txt:3"), std::string::npos) << error;
    EXPECT_NE(error.find("sinfo -N -o \"%N %G %c %m %t\""), std::string::npos) << error;
  }
  EXPECT_EQ(ReadNodeText("NODELIST GRES\nn1 gpu\nn2 gpu:a100:8(S:0-3)\n").error, "");
  // Records are not cut: there it is one.
  EXPECT_EQ(ReadNodeText("NodeName=n1 Gres=gpu:a100 CPUTot=1\n").error, "");
}

TEST(ClusterFormats, BadInputNamesTheLineAndWhatToDo) {
  const auto expect = [](const std::string& text, const std::vector<std::string>& parts) {
    const std::string error = ReadNodeText(text).error;
    for (const std::string& part : parts) {
      EXPECT_NE(error.find(part), std::string::npos) << "no \"" << part << "\" in: " << error;
    }
  };
  expect("NODELIST CPUS\nn1 64\n", {"column GRES", "nodes.txt:1", "sinfo -N -o"});
  expect("NODELIST GRES\nn1 gpu:a100:x\n", {"generic resources", "'gpu:a100:x'", "nodes.txt:2"});
  expect("NODELIST GRES CPUS\nn1 gpu:4\n", {"3 fields", "nodes.txt:2"});
  expect("NODELIST GRES\nn[1 gpu:4\n", {"n[1-4,7]", "nodes.txt:2"});
  expect("NODELIST GRES STATE\nn1 (null) idle\nn2 gpu:4 down\n",
         {"none of 2 entries", "1 left out: a node without GPUs", "down", "sinfo -N"});
  expect("NodeName=n1 Gres=gpu:99 CPUTot=1\n", {"0 to 64 GPUs", "99", "nodes.txt:1"});
  expect("{\"nodes\": [{\"gres\": ", {"well-formed JSON", "nodes.txt:1", "sinfo -N"});
  expect("{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [\n{\"metadata\": {}}]}",
         {"metadata.name", "nodes.txt:2"});
  expect("6 nodes\n", {"NODESxGPUS", "'6 nodes'", "allot list cluster-formats", "nodes.txt:1"});
}

}  // namespace
}  // namespace allot
