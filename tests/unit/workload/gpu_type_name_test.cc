#include "workload/gpu_type_name.h"

#include <gtest/gtest.h>

#include <string>

namespace allot {
namespace {

using std::literals::operator""s;

std::vector<std::string> Meant(const std::string& name, const std::vector<KnownGpuType>& known) {
  std::vector<std::string> meant;
  for (const std::size_t k : FindGpuTypes(name, known)) meant.push_back(known[k].name);
  return meant;
}

using Names = std::vector<std::string>;

TEST(GpuTypeName, CaseSeparatorsVendorMemoryAndFormDoNotMatter) {
  const std::vector<KnownGpuType> known = {"v100"s, "a100"s, "h100"s, "a10"s, "t4"s, "mi250x"s};
  for (const char* name :
       {"V100", "tesla_v100", "Tesla V100-SXM2-32GB", "NVIDIA/V100", "teslav100",
        "Tesla-V100-PCIE-16GB", "V100M32", "v100sxm2", "v100-32", "V100 32 GB"}) {
    EXPECT_EQ(Meant(name, known), Names{"v100"}) << name;
  }
  for (const char* name : {"NVIDIA-A100-SXM4-80GB", "NVIDIA A100 80GB PCIe", "a100_pcie_40gb",
                           "nvidia_a100-sxm4-40gb", "NVIDIA A100 Tensor Core GPU"}) {
    EXPECT_EQ(Meant(name, known), Names{"a100"}) << name;
  }
  EXPECT_EQ(Meant("NVIDIA H100 80GB HBM3", known), Names{"h100"});
  EXPECT_EQ(Meant("nvidia_h100_nvl", known), Names{"h100"});
  EXPECT_EQ(Meant("NVIDIA A10", known), Names{"a10"});
  EXPECT_EQ(Meant("Tesla T4", known), Names{"t4"});
  EXPECT_EQ(Meant("AMD_Instinct_MI250X", known), Names{"mi250x"});
}

TEST(GpuTypeName, OtherChipsAreNotMerged) {
  const std::vector<KnownGpuType> known = {"a100"s, "v100"s, "rtx_2080"s, "gpu"s};
  for (const char* name : {"a10", "A100X", "h100", "V100S-PCIE-32GB", "A800-SXM4-80GB", "p100",
                           "GeForce RTX 2080 Ti", "", " ", "NVIDIA"}) {
    EXPECT_EQ(Meant(name, known), Names{}) << name;
  }
  EXPECT_EQ(Meant("NVIDIA GeForce RTX 2080", known), Names{"rtx_2080"});
}

TEST(GpuTypeName, PartsOfGpusAreNoGpus) {
  EXPECT_EQ(Meant("NVIDIA-A100-SXM4-80GB-MIG-1g.10gb", {"a100"s}), Names{});
  EXPECT_EQ(Meant("a100", {"a100-mig-3g.20gb"s}), Names{});
}

// A cluster that tells types apart keeps them apart.
TEST(GpuTypeName, TheExactNameAndThenWhatItConfirmsWins) {
  const std::vector<KnownGpuType> two = {"a100-40gb"s, "a100-80gb"s};
  EXPECT_EQ(Meant("a100-80gb", two), Names{"a100-80gb"});
  EXPECT_EQ(Meant("A100_80GB", two), Names{"a100-80gb"});
  EXPECT_EQ(Meant("NVIDIA A100-SXM4-80GB", two), Names{"a100-80gb"});
  EXPECT_EQ(Meant("A100", two), (Names{"a100-40gb", "a100-80gb"})) << "either will do";
  EXPECT_EQ(Meant("a100-sxm4-64gb", two), Names{}) << "neither has 64 GB";
  const std::vector<KnownGpuType> plain = {"a100"s, "a100-80gb"s};
  EXPECT_EQ(Meant("a100", plain), Names{"a100"});
  EXPECT_EQ(Meant("NVIDIA-A100-SXM4-40GB", plain), Names{"a100"});
  EXPECT_EQ(Meant("NVIDIA-A100-SXM4-80GB", plain), Names{"a100-80gb"});
  const std::vector<KnownGpuType> forms = {"a100-pcie"s, "a100-sxm4"s};
  EXPECT_EQ(Meant("NVIDIA-A100-SXM4-80GB", forms), Names{"a100-sxm4"});
}

TEST(GpuTypeName, TheMemoryOfAClusterCountsBesideItsNames) {
  const std::vector<KnownGpuType> known = {{"v100", 16}, {"a100", 79.3}};
  EXPECT_EQ(Meant("Tesla V100-SXM2-32GB", known), Names{});
  EXPECT_EQ(Meant("Tesla V100-SXM2-16GB", known), Names{"v100"});
  EXPECT_EQ(Meant("NVIDIA A100-SXM4-80GB", known), Names{"a100"}) << "drivers report less";
}

}  // namespace
}  // namespace allot
