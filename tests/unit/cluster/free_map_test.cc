#include "cluster/free_map.h"

#include <gtest/gtest.h>

#include <bit>
#include <stdexcept>

#include "core/rng.h"

namespace allot {
namespace {

TEST(FreeMap, StartsWithEverythingFree) {
  const ClusterSpec cluster = ClusterSpec::Parse("1x64:v100,2x3x5:k80");
  const FreeMap free(cluster);
  EXPECT_EQ(free.gpu_mask(0), ~std::uint64_t{0});
  EXPECT_EQ(free.gpu_mask(1), 0b111U);
  EXPECT_EQ(free.free_cpus(2), 5);
  EXPECT_EQ(free.total_free(1), (Resources{6, 10, 2 * kUnlimitedMemory}));
}

TEST(FreeMap, TakesTheLowestFreeGpus) {
  const ClusterSpec cluster = ClusterSpec::Parse("1x8");
  FreeMap free(cluster);
  ASSERT_TRUE(free.TakeExactly(0, 0b101));
  EXPECT_EQ(free.Take(0, {3, 4}), 0b11010U);
  EXPECT_EQ(free.free_gpus(0), 3);
  EXPECT_EQ(free.free_cpus(0), 60);
}

TEST(FreeMap, TakeExactlyChangesNothingWhenItCannot) {
  const ClusterSpec cluster = ClusterSpec::Parse("1x4");
  FreeMap free(cluster);
  ASSERT_TRUE(free.TakeExactly(0, 0b1, {0, 1}));
  EXPECT_FALSE(free.TakeExactly(0, 0b11));           // GPU 0 is taken
  EXPECT_FALSE(free.TakeExactly(0, 0b10000));        // the node has no GPU 4
  EXPECT_FALSE(free.TakeExactly(0, 0b10, {0, 32}));  // 31 CPUs are left
  EXPECT_EQ(free.gpu_mask(0), 0b1110U);
  EXPECT_EQ(free.free_cpus(0), 31);
  EXPECT_EQ(free.total_free(0), (Resources{3, 31, kUnlimitedMemory}));
}

TEST(FreeMap, CapacityCountsWholeUnits) {
  const ClusterSpec cluster = ClusterSpec::Parse("1x8x20");
  const FreeMap free(cluster);
  EXPECT_EQ(free.Capacity(0, {1, 0}, 100), 8);
  EXPECT_EQ(free.Capacity(0, {3, 0}, 100), 2);
  EXPECT_EQ(free.Capacity(0, {1, 6}, 100), 3);
  EXPECT_EQ(free.Capacity(0, {0, 6}, 100), 3);
  EXPECT_EQ(free.Capacity(0, {1, 1}, 2), 2);
}

TEST(FreeMap, RefusesToTakeOrReleaseTooMuch) {
  const ClusterSpec cluster = ClusterSpec::Parse("1x4");
  FreeMap free(cluster);
  EXPECT_THROW(free.Take(0, {5, 0}), std::logic_error);
  EXPECT_THROW(free.Release(0, 0b1), std::logic_error);
  EXPECT_THROW(free.Release(0, 0, {0, 1}), std::logic_error);
}

// Whatever is taken and given back, free and held add up to the cluster and nothing is held twice.
TEST(FreeMap, ConservesResources) {
  const ClusterSpec cluster = ClusterSpec::Parse("3x8:v100,5x4x9:k80,2x64:a100");
  struct Held {
    NodeIndex node;
    std::uint64_t gpus;
    std::int32_t cpus;
  };
  for (std::uint64_t trial = 0; trial < 50; ++trial) {
    SCOPED_TRACE(trial);
    Rng rng(11, "free_map_test", trial);
    FreeMap free(cluster);
    std::vector<Held> held;
    for (int step = 0; step < 200; ++step) {
      if (!held.empty() && rng.Below(3) == 0) {
        const auto victim = static_cast<std::ptrdiff_t>(rng.Below(held.size()));
        free.Release(held[victim].node, held[victim].gpus, {0, held[victim].cpus});
        held.erase(held.begin() + victim);
      } else {
        const auto node = static_cast<NodeIndex>(rng.Below(cluster.nodes().size()));
        const Resources unit{static_cast<GpuCount>(rng.Below(3)),
                             static_cast<std::int32_t>(rng.Below(3))};
        const std::int32_t units =
            free.Capacity(node, unit, 1 + static_cast<std::int32_t>(rng.Below(6)));
        held.push_back({node, free.Take(node, unit * units), unit.cpus * units});
        ASSERT_EQ(std::popcount(held.back().gpus), unit.gpus * units);
      }
      std::vector<std::uint64_t> masks(cluster.nodes().size());
      std::vector<Resources> used(cluster.types().size());
      for (const Held& h : held) {
        ASSERT_EQ(masks[h.node] & h.gpus, 0U) << "GPU held twice on node " << h.node;
        masks[h.node] |= h.gpus;
        used[cluster.nodes()[h.node].type] += {std::popcount(h.gpus), h.cpus};
      }
      for (std::size_t n = 0; n < masks.size(); ++n) {
        ASSERT_EQ(free.gpu_mask(static_cast<NodeIndex>(n)) ^ masks[n],
                  GpuMask(cluster.nodes()[n].capacity.gpus));
      }
      for (std::size_t t = 0; t < used.size(); ++t) {
        const auto type = static_cast<GpuTypeIndex>(t);
        ASSERT_EQ(free.total_free(type) + used[t], cluster.total_of(type));
      }
    }
    for (const Held& h : held) free.Release(h.node, h.gpus, {0, h.cpus});
    ASSERT_EQ(free.total_free(0) + free.total_free(1) + free.total_free(2), cluster.total());
  }
}

TEST(FreeMap, MemoryIsTakenAndGivenBackWhereNodesStateIt) {
  const ClusterSpec cluster = ClusterSpec::Parse("1x8x64x10");
  FreeMap free(cluster);
  const Resources demand{1, 0, 3000};
  EXPECT_EQ(free.Capacity(0, demand, 8), 3);  // 10240 / 3000
  const std::uint64_t taken = free.Take(0, demand * 2);
  EXPECT_EQ(free.free_memory_mb(0), 4240);
  EXPECT_FALSE(free.TakeExactly(0, 0b1000, demand * 2));  // 6000 of 4240 MB
  EXPECT_TRUE(free.TakeExactly(0, 0b1000, demand));
  free.Release(0, taken, demand * 2);
  EXPECT_EQ(free.total_free(0), (Resources{7, 64, 7240}));
}

TEST(FreeMap, TwoJobsOnOneSetOfGpus) {
  const ClusterSpec cluster = ClusterSpec::Parse("1x4");
  FreeMap free(cluster);
  EXPECT_FALSE(free.Join(0, 0b11, {2, 1}));  // nobody has them
  ASSERT_TRUE(free.TakeExactly(0, 0b11, {2, 1}));
  EXPECT_FALSE(free.Join(0, 0b111, {3, 1}));  // GPU 2 is free
  ASSERT_TRUE(free.Join(0, 0b11, {2, 1}));
  EXPECT_FALSE(free.Join(0, 0b1, {1, 1}));  // two have it
  EXPECT_EQ(free.total_free(0), (Resources{2, 30, kUnlimitedMemory}));
  free.Release(0, 0b11, {2, 1});  // one goes, the other stays
  EXPECT_EQ(free.gpu_mask(0), 0b1100U);
  EXPECT_EQ(free.free_cpus(0), 31);
  free.Release(0, 0b11, {2, 1});
  EXPECT_EQ(free.total_free(0), cluster.total());
}

TEST(FreeMap, DemandOfAddsUpKinds) {
  const std::vector<UnitKind> kinds{{"worker", {4, 2}}, {"ps", {0, 2}}};
  EXPECT_EQ(DemandOf(kinds, {2, 3}), (Resources{8, 10}));
}

}  // namespace
}  // namespace allot
