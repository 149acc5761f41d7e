#include "clients/slurm/resources.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

namespace allot {
namespace {

TEST(SlurmResources, GpusOfGres) {
  const auto gpus = ParseGresGpus("gpu:A100:4(S:0-1),gpu:v100:2(IDX:0,1),shard:8");
  ASSERT_TRUE(gpus);
  EXPECT_EQ(gpus->count, 6);
  EXPECT_TRUE(gpus->shards);
  EXPECT_EQ(gpus->types, (std::vector<SlurmGpuType>{{"A100", 4}, {"v100", 2}}));
  EXPECT_EQ(ParseGresGpus("gpu")->count, 1);
  EXPECT_EQ(ParseGresGpus("gpu:a100")->types[0].name, "a100");
  EXPECT_EQ(ParseGresGpus("(null)")->count, 0);
  EXPECT_FALSE(ParseGresGpus("gpu:a100:x"));
}

TEST(SlurmResources, TypesOfGres) {
  const auto text_of = [](std::string_view gres) {
    std::string text;
    for (const SlurmGpuType& type : GpuTypesOfGres(gres)) {
      text += fmt::format("{} {};", type.count, type.name);
    }
    return text;
  };
  EXPECT_EQ(text_of("gpu:v100:4(S:0-1)"), "4 v100;");
  EXPECT_EQ(text_of("gpu:v100:4(S:0,2)"), "4 v100;");
  EXPECT_EQ(text_of("gres:gpu:2"), "2 ;");
  EXPECT_EQ(text_of("gres/gpu:2"), "2 ;") << "from 23.11 on";
  EXPECT_EQ(text_of("gres/gpu:v100:4"), "4 v100;");
  EXPECT_EQ(text_of("nic:2,gpu:k80:8"), "8 k80;");
  EXPECT_EQ(text_of("gpu"), "1 ;");
  EXPECT_EQ(text_of("gpu:k80"), "1 k80;");
  EXPECT_EQ(text_of(""), "");
  EXPECT_EQ(text_of("gpu:a100:2,gpu:v100:4,gpu:a100:1"), "3 a100;4 v100;");
  EXPECT_EQ(text_of("gpu:2147483647,gpu:2147483647"), "2147483647 ;");
  EXPECT_EQ(text_of("gpu:2,gpu:-7"), "2 ;");
}

TEST(SlurmResources, GresRequest) {
  EXPECT_EQ(GresRequest(4, "a100"), "gres:gpu:a100:4");
  EXPECT_EQ(GresRequest(4, ""), "gres:gpu:4");
}

TEST(SlurmResources, PartsOfGpusAreTypesButNoGpus) {
  const auto gres = ParseGresGpus("gpu:a100:2,gpu:a100_3g.20gb:4");
  ASSERT_TRUE(gres);
  EXPECT_EQ(gres->count, 2);
  EXPECT_EQ(gres->slices, 4);
  EXPECT_EQ(gres->types, (std::vector<SlurmGpuType>{{"a100", 2}, {"a100_3g.20gb", 4, true}}));
}

TEST(SlurmResources, GpusOfTres) {
  const auto tres = ParseTresGpus("billing=8,cpu=8,gres/gpu:A100=3,gres/gpu=4,mem=64G,node=1");
  ASSERT_TRUE(tres);
  EXPECT_EQ(tres->count, 4);
  EXPECT_EQ(tres->types, (std::vector<SlurmGpuType>{{"A100", 3}}));
  EXPECT_EQ(ParseTresGpus("gres/gpu=4")->types, (std::vector<SlurmGpuType>{{"", 4}}));
  EXPECT_EQ(ParseTresGpus("cpu=4")->count, 0);
  EXPECT_FALSE(ParseTresGpus("gres/gpu=x"));
  EXPECT_EQ(TresCpus("gres/gpu=4, cpu=8"), 8);
  EXPECT_EQ(TresCpus("mem=4G"), 0);
}

TEST(SlurmResources, MemoryOfTresIsInMebibytes) {
  EXPECT_EQ(TresMemory("cpu=1,mem=512M,node=1"), 512U);
  EXPECT_EQ(TresMemory("mem=1.50G"), 1536U);
  EXPECT_EQ(TresMemory("mem=2T,cpu=1"), 2U << 20);
  EXPECT_EQ(TresMemory("mem=100"), 100U);
  EXPECT_EQ(TresMemory("cpu=4"), 0U);
  EXPECT_EQ(TresMemory("mem=x"), 0U);
}

TEST(SlurmResources, LimitsOfGpus) {
  EXPECT_EQ(GpuLimitOf(0), 0);
  EXPECT_EQ(GpuLimitOf(8), 8);
  EXPECT_EQ(GpuLimitOf(std::numeric_limits<std::uint64_t>::max()), std::nullopt);
  EXPECT_EQ(GpuLimitIn("cpu=N(0),gres/gpu=4(2)"), 4);
  EXPECT_EQ(GpuLimitIn("cpu=N(0),gres/gpu=N(0)"), std::nullopt);
  EXPECT_EQ(GpuLimitIn("gres/gpu:a100=4(2)"), std::nullopt);
}

}  // namespace
}  // namespace allot
