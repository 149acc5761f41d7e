#include "cluster/cluster_spec.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

std::string Refusal(const std::string& text, ExitCode code) {
  return ErrorOf(code, [&] { ClusterSpec::Parse(text); });
}

class ClusterFile {
 public:
  explicit ClusterFile(const std::string& text) { std::ofstream(path_) << text; }
  std::string path() const { return path_.string(); }

 private:
  testing_support::TempFolder folder_;
  std::filesystem::path path_ = folder_ / "cluster.txt";
};

TEST(ClusterSpec, NodesTimesGpus) {
  const ClusterSpec spec = ClusterSpec::Parse("16x4");
  EXPECT_EQ(spec.nodes().size(), 16U);
  EXPECT_EQ(spec.types(), std::vector<std::string>{"gpu"});
  EXPECT_EQ(spec.nodes()[15].capacity, (Resources{4, 32, kUnlimitedMemory}));  // 8 CPUs a GPU
  EXPECT_EQ(spec.total(), (Resources{64, 512, 16 * kUnlimitedMemory}));
}

TEST(ClusterSpec, TypesAreNumberedInOrderOfAppearance) {
  const ClusterSpec spec = ClusterSpec::Parse("6x4:v100,3x8:a100,1x2:v100");
  EXPECT_EQ(spec.types(), (std::vector<std::string>{"v100", "a100"}));
  EXPECT_EQ(spec.nodes()[6].type, 1);
  EXPECT_EQ(spec.nodes()[9].type, 0);
  EXPECT_EQ(spec.type_capacity(), (std::vector<GpuCount>{26, 24}));
  EXPECT_EQ(spec.total_of(1), (Resources{24, 192, 3 * kUnlimitedMemory}));
}

TEST(ClusterSpec, ThirdFactorIsCpus) {
  EXPECT_EQ(ClusterSpec::Parse("6x4x20:v100").nodes()[0].capacity,
            (Resources{4, 20, kUnlimitedMemory}));
}

TEST(ClusterSpec, ToStringRoundTrips) {
  for (const std::string text :
       {"16x4", "6x4:v100,3x8:a100", "6x4x20:v100,1x64", "2x0x16,1x1", "1x4,1x4:k80,1x4"}) {
    EXPECT_EQ(ClusterSpec::Parse(text).ToString(), text);
  }
}

TEST(ClusterSpec, InWords) {
  EXPECT_EQ(ClusterSpec::Parse("16x8").InWords(), "16 nodes with 8 GPUs");
  EXPECT_EQ(ClusterSpec::Parse("1x1").InWords(), "1 node with 1 GPU");
  EXPECT_EQ(ClusterSpec::Parse("2x8x16:a100,1x4:v100,3x8:a100").InWords(),
            "5 nodes with 8 a100, 1 with 4 v100");
}

TEST(ClusterSpec, ToStringMergesEqualNeighbours) {
  EXPECT_EQ(ClusterSpec::Parse(" 1x4 , 2x4x32:gpu").ToString(), "3x4x32");
}

TEST(ClusterSpec, ReadsAFile) {
  const ClusterFile file("# the old rack\n6x4:v100\n\n3x8:a100, 1x1  # and a spare\n");
  EXPECT_EQ(ClusterSpec::Parse(file.path()).ToString(), "6x4:v100,3x8:a100,1x1");
}

TEST(ClusterSpec, FileErrorsNameTheLine) {
  const ClusterFile file("6x4:v100\ntwo nodes\n");
  EXPECT_EQ(Refusal(file.path(), ExitCode::kBadData),
            "a part of a cluster is NODESxGPUS[xCPUS[xMEMORY]][:TYPE[@MEMORY]], as in '16x4' or "
            "'6x4:v100', got 'two "
            "nodes' (" +
                file.path() + ":2)");
}

TEST(ClusterSpec, EmptyFileHasNoGpu) {
  const ClusterFile file("# nothing\n");
  EXPECT_EQ(Refusal(file.path(), ExitCode::kBadData),
            "a cluster needs at least 1 GPU, '" + file.path() + "' has 0 on 0 nodes");
}

TEST(ClusterSpec, RefusesNonsense) {
  EXPECT_EQ(Refusal("banana", ExitCode::kUsage),
            "a part of a cluster is NODESxGPUS[xCPUS[xMEMORY]][:TYPE[@MEMORY]], as in '16x4' or "
            "'6x4:v100', got "
            "'banana', which is no file either");
}

TEST(ClusterSpec, SaysThatAFileIsNotThere) {
  for (const char* path : {"sinfo.txt", "nodes.xml", "lists/nodes", "4nodes.json", "n-x.yaml.gz"}) {
    EXPECT_EQ(Refusal(path, ExitCode::kBadData).find(fmt::format("no file '{}'", path)), 0U)
        << path;
  }
  EXPECT_NE(Refusal("/", ExitCode::kBadData).find("a file on disk"), std::string::npos);
  EXPECT_EQ(ClusterSpec::Parse("1x8:a100.80gb").types().front(), "a100.80gb");
}

TEST(ClusterSpec, RefusesNothing) {
  EXPECT_EQ(Refusal("", ExitCode::kUsage),
            "a part of a cluster is NODESxGPUS[xCPUS[xMEMORY]][:TYPE[@MEMORY]], as in '16x4' or "
            "'6x4:v100', got '', "
            "which is no file either");
}

TEST(ClusterSpec, RefusesNoNodes) {
  EXPECT_EQ(Refusal("0x4", ExitCode::kUsage),
            "the number of nodes is a whole number from 1 to 1000000, got '0' in '0x4'");
}

TEST(ClusterSpec, RefusesTooManyGpusANode) {
  EXPECT_EQ(Refusal("2x65", ExitCode::kUsage),
            "the number of GPUs a node is a whole number from 0 to 64, got '65' in '2x65'");
}

TEST(ClusterSpec, RefusesFractionsAndNegatives) {
  EXPECT_EQ(Refusal("2x1.5", ExitCode::kUsage),
            "the number of GPUs a node is a whole number from 0 to 64, got '1.5' in '2x1.5'");
  EXPECT_EQ(Refusal("2x4x-1", ExitCode::kUsage),
            "the number of CPUs a node is a whole number from 0 to 2000, got '-1' in '2x4x-1'");
}

TEST(ClusterSpec, RefusesTooManyNodesInTotal) {
  EXPECT_EQ(Refusal("1000000x1,1x1", ExitCode::kUsage),
            "a cluster has at most 1000000 nodes, got 1000001 with '1x1'");
}

TEST(ClusterSpec, RefusesAClusterWithoutGpus) {
  EXPECT_EQ(Refusal("2x0x8", ExitCode::kUsage),
            "a cluster needs at least 1 GPU, '2x0x8' has 0 on 2 nodes");
}

TEST(ClusterSpec, RefusesABadTypeName) {
  EXPECT_EQ(Refusal("2x4:", ExitCode::kUsage),
            "a GPU type is made of letters, digits, '-', '_' and '.', got '' in '2x4:'");
}

TEST(ClusterSpec, GavelsOrderIsV100P100K80) {
  const ClusterSpec spec = ClusterSpec::Parse("36:24:12");
  EXPECT_EQ(spec.types(), (std::vector<std::string>{"v100", "p100", "k80"}));
  EXPECT_EQ(spec.type_capacity(), (std::vector<GpuCount>{36, 24, 12}));
  EXPECT_EQ(spec.nodes().size(), 72U);
}

TEST(ClusterSpec, GavelsOrderInNodesOfSeveralGpus) {
  const ClusterSpec spec = ClusterSpec::Parse("12:0:8x4");
  EXPECT_EQ(spec.types(), (std::vector<std::string>{"v100", "k80"}));
  EXPECT_EQ(spec.nodes().size(), 5U);
}

TEST(ClusterSpec, GavelsOrderHasWholeNodes) {
  const std::string refusal = Refusal("12:10:8x4", ExitCode::kUsage);
  EXPECT_NE(refusal.find("got '10' in nodes of '4'"), std::string::npos) << refusal;
}

}  // namespace
}  // namespace allot
