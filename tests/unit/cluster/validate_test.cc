#include "cluster/validate.h"

#include <gtest/gtest.h>

#include <bit>
#include <deque>
#include <string>

#include "cluster/free_map.h"
#include "core/rng.h"

namespace allot {
namespace {

Configuration MakeConfiguration(const UnitCounts& units, GpuTypeIndex type,
                                const Resources& demand) {
  Configuration c;
  c.units = units;
  c.gpu_type = type;
  c.demand = demand;
  c.cost = demand.gpus;
  c.rate = demand.gpus;
  return c;
}

// Two v100 nodes (0, 1) with 4 GPUs and 10 CPUs, one k80 node (2); jobs 17 and 20.
// Table: 0 = 1 worker, 1 = 2 workers + 1 server, both on v100; 2 = 1 worker on k80.
class ValidateTest : public testing::Test {
 protected:
  ValidateTest()
      : cluster_(ClusterSpec::Parse("2x4x10:v100,1x4:k80")),
        table_("net", {{"worker", {1, 2}}, {"ps", {0, 3}}},
               {MakeConfiguration({1, 0}, 0, {1, 2}), MakeConfiguration({2, 1}, 0, {2, 7}),
                MakeConfiguration({1, 0}, 1, {1, 2})}) {
    observation_.cluster = &cluster_;
    observation_.job = {17, 20};
    observation_.table = {&table_, &table_};
    observation_.running = {-1, -1};
    observation_.share_begin = {0, 0, 0};
  }

  void Give(JobIndex job, std::int32_t configuration, const std::vector<NodeShare>& shares) {
    allocation_.Add(job, configuration, shares);
  }
  // The reason for refusal, "" when legal.
  std::string Verdict() const { return ValidateAllocation(observation_, allocation_).message(); }

  ClusterSpec cluster_;
  ConfigurationTable table_;
  Observation observation_;
  Allocation allocation_;
};

TEST_F(ValidateTest, NothingIsLegal) { EXPECT_EQ(Verdict(), ""); }

TEST_F(ValidateTest, LegalAllocation) {
  Give(20, 1, {{0, {1, 1}, 0b0001}, {1, {1, 0}, 0b1000}});
  Give(17, 0, {{0, {1, 0}, 0b0010}});
  EXPECT_EQ(Verdict(), "");
}

TEST_F(ValidateTest, WhatAJobKeepsIsNotForOthers) {
  const NodeShare held{0, {1, 0}, 0b0010};
  observation_.running = {0, -1};
  observation_.share_begin = {0, 1, 1};
  observation_.shares = {held};
  Give(17, 0, {held});
  EXPECT_EQ(Verdict(), "");
  Give(20, 0, {{0, {1, 0}, 0b0010}});
  EXPECT_NE(Verdict(), "");
}

TEST_F(ValidateTest, CallsDoNotInfluenceEachOther) {
  Give(17, 0, {{0, {1, 0}, 1}});
  EXPECT_EQ(Verdict(), "");
  EXPECT_EQ(Verdict(), "");
  observation_.job = {18, 20};
  EXPECT_NE(Verdict(), "");
}

TEST_F(ValidateTest, OnlyRowsOfTheObservation) {
  Give(18, 0, {{0, {1, 0}, 1}});
  EXPECT_EQ(Verdict(), "job 18: only unfinished jobs can be allocated, it is none of the 2");
}

TEST_F(ValidateTest, NegativeAndHugeJobs) {
  Give(-1, 0, {});
  EXPECT_EQ(Verdict(), "job -1: only unfinished jobs can be allocated, it is none of the 2");
  allocation_.Clear();
  Give(2'000'000'000, 0, {});
  EXPECT_EQ(Verdict(),
            "job 2000000000: only unfinished jobs can be allocated, it is none of the 2");
}

TEST_F(ValidateTest, EachJobOnce) {
  Give(17, 0, {{0, {1, 0}, 1}});
  Give(17, 2, {{2, {1, 0}, 1}});
  EXPECT_EQ(Verdict(), "job 17: a job is allocated once, configuration 2 follows an earlier one");
}

TEST_F(ValidateTest, ConfigurationInTheTable) {
  Give(17, 3, {});
  EXPECT_EQ(Verdict(), "job 17: configuration 3 is not in its table 'net', which has 3");
}

TEST_F(ValidateTest, SharesAddUp) {
  Give(17, 1, {{0, {1, 1}, 1}});
  EXPECT_EQ(Verdict(), "job 17: its shares must add up to configuration 1: 2 'worker', got 1");
}

TEST_F(ValidateTest, SharesAddUpInEveryKind) {
  Give(17, 1, {{0, {2, 0}, 3}});
  EXPECT_EQ(Verdict(), "job 17: its shares must add up to configuration 1: 1 'ps', got 0");
}

TEST_F(ValidateTest, NodeExists) {
  Give(17, 0, {{3, {1, 0}, 1}});
  EXPECT_EQ(Verdict(), "job 17: node 3 does not exist, the cluster has 3 (from 0)");
}

TEST_F(ValidateTest, NodeOfTheConfigurationsType) {
  Give(17, 0, {{2, {1, 0}, 1}});
  EXPECT_EQ(Verdict(), "job 17: configuration 0 runs on 'v100', node 2 has 'k80'");
}

TEST_F(ValidateTest, UnitsAreNotNegative) {
  Give(17, 0, {{0, {2, 0}, 3}, {1, {-1, 0}, 0}});
  EXPECT_EQ(Verdict(),
            "job 17: a share holds >= 0 units of each of its 2 kinds, got -1 of kind 0 on node 1");
}

TEST_F(ValidateTest, GpuExists) {
  Give(17, 0, {{0, {1, 0}, 0b100000}});
  EXPECT_EQ(Verdict(), "job 17: GPU 5 of node 0 does not exist, the node has 4 (from 0)");
}

TEST_F(ValidateTest, AsManyGpusAsTheUnitsNeed) {
  Give(17, 0, {{0, {1, 0}, 0b11}});
  EXPECT_EQ(Verdict(), "job 17: its units on node 0 need 1 GPUs, 2 are named");
}

TEST_F(ValidateTest, GpuGivenOnce) {
  Give(17, 0, {{0, {1, 0}, 0b100}});
  Give(20, 0, {{0, {1, 0}, 0b100}});
  EXPECT_EQ(Verdict(), "job 20: GPU 2 of node 0 is given twice, first to job 17");
}

TEST_F(ValidateTest, GpuGivenOnceWithinAJob) {
  Give(17, 1, {{0, {1, 1}, 0b1}, {0, {1, 0}, 0b1}});
  EXPECT_EQ(Verdict(), "job 17: GPU 0 of node 0 is given twice, first to job 17");
}

TEST_F(ValidateTest, CpusOfTheNode) {
  Give(17, 1, {{0, {2, 1}, 0b0011}});
  Give(20, 1, {{0, {2, 1}, 0b1100}});
  EXPECT_EQ(Verdict(), "job 20: node 0 has 10 CPUs, its jobs would hold 14");
}

TEST(ValidateMemory, OfTheNode) {
  const ClusterSpec cluster = ClusterSpec::Parse("1x4x32x10");
  const ConfigurationTable table("net", {{"gpu", {1, 0, 6000}}},
                                 {MakeConfiguration({1}, 0, {1, 0, 6000})});
  Observation o;
  o.cluster = &cluster;
  o.job = {0, 1};
  o.table = {&table, &table};
  o.running = {-1, -1};
  o.share_begin = {0, 0, 0};
  Allocation allocation;
  for (const JobIndex job : {0, 1}) {
    const NodeShare share{0, {1}, std::uint64_t{1} << job};
    allocation.Add(job, 0, std::span(&share, 1));
  }
  EXPECT_EQ(ValidateAllocation(o, allocation).message(),
            "job 1: node 0 has 10240 MB of memory, its jobs would hold 12000");
}

// Three nodes of 4 GPUs. Table 'near': 0 = 2 GPUs on several nodes, 1 = 2 GPUs on one; table
// 'pair': 0 = 1 GPU alone, 1 = 1 GPU beside a 'pair', 2 = 1 GPU beside a 'near'.
class ValidateSpanTest : public testing::Test {
 protected:
  static std::vector<Configuration> Near() {
    Configuration far = MakeConfiguration({2}, 0, {2, 0});
    Configuration near = far;
    far.span = {2, Span::kAny};
    near.span = {1, 1};
    near.rate = 3;
    return {far, near};
  }
  static std::vector<Configuration> Pair() {
    Configuration alone = MakeConfiguration({1}, 0, {1, 0});
    Configuration with_pair = alone;
    with_pair.partner = 0;
    Configuration with_near = alone;
    with_near.partner = 1;
    return {alone, with_pair, with_near};
  }

  ValidateSpanTest()
      : cluster_(ClusterSpec::Parse("3x4")),
        near_("near", {{"gpu", {1, 0}}}, Near()),
        pair_("pair", {{"gpu", {1, 0}}}, Pair(), ConfigurationTable::kNoLimits, {"pair", "near"}) {
    o_.cluster = &cluster_;
    o_.job = {5, 6, 7};
    o_.table = {&near_, &pair_, &pair_};
    o_.running = {-1, -1, -1};
    o_.share_begin = {0, 0, 0, 0};
  }
  void Give(JobIndex job, std::int32_t configuration, const std::vector<NodeShare>& shares,
            JobIndex partner = kAlone) {
    allocation_.Add(job, configuration, shares, false, partner);
  }
  std::string Verdict() const { return ValidateAllocation(o_, allocation_).message(); }

  ClusterSpec cluster_;
  ConfigurationTable near_;
  ConfigurationTable pair_;
  Observation o_;
  Allocation allocation_;
};

TEST_F(ValidateSpanTest, AsManyNodesAsTheSpanSays) {
  Give(5, 1, {{0, {2}, 0b11}});
  EXPECT_EQ(Verdict(), "");
  allocation_.Clear();
  Give(5, 1, {{0, {1}, 0b1}, {1, {1}, 0b1}});
  EXPECT_EQ(Verdict(), "job 5: configuration 1 spans 1 nodes, its shares lie on 2");
  allocation_.Clear();
  Give(5, 0, {{0, {2}, 0b11}});
  EXPECT_EQ(Verdict(), "job 5: configuration 0 spans 2+ nodes, its shares lie on 1");
  allocation_.Clear();
  Give(5, 0, {{0, {1}, 0b1}, {0, {1}, 0b10}});
  EXPECT_EQ(Verdict(), "job 5: configuration 0 spans 2+ nodes, its shares lie on 1");
}

TEST_F(ValidateSpanTest, PartnersHoldTheSameGpus) {
  Give(6, 1, {{0, {1}, 0b1}}, 7);
  Give(7, 1, {{0, {1}, 0b1}}, 6);
  EXPECT_EQ(Verdict(), "");
  Give(5, 1, {{0, {2}, 0b11}});
  EXPECT_EQ(Verdict(), "job 5: GPU 0 of node 0 is given twice, first to job 6");
  allocation_.Clear();
  Give(6, 1, {{0, {1}, 0b1}}, 7);
  Give(7, 1, {{0, {1}, 0b10}}, 6);
  EXPECT_EQ(Verdict(),
            "job 6: partners hold the same GPUs of the same nodes in the same order, it has 1 "
            "shares and its partner 7 has 1 others");
}

TEST_F(ValidateSpanTest, PartnersNameEachOther) {
  Give(6, 1, {{0, {1}, 0b1}}, 7);
  EXPECT_EQ(Verdict(), "job 6: its partner 7 is none of the 1 jobs that are allocated");
  Give(7, 0, {{0, {1}, 0b1}});
  EXPECT_EQ(Verdict(), "job 6: partners name each other, its partner 7 names -1");
}

TEST_F(ValidateSpanTest, PartnersAreAsTheirConfigurationsSay) {
  Give(6, 1, {{0, {1}, 0b1}});
  EXPECT_EQ(Verdict(), "job 6: configuration 1 shares its GPUs with a 'pair', no partner is named");
  allocation_.Clear();
  Give(6, 0, {{0, {1}, 0b1}}, 7);
  Give(7, 1, {{0, {1}, 0b1}}, 6);
  EXPECT_EQ(Verdict(), "job 6: configuration 0 is of a job alone on its GPUs, partner 7 is named");
  allocation_.Clear();
  Give(6, 2, {{0, {1}, 0b1}}, 7);
  Give(7, 1, {{0, {1}, 0b1}}, 6);
  EXPECT_EQ(Verdict(),
            "job 6: configuration 2 shares its GPUs with a 'near', partner 7 is a 'pair'");
}

TEST_F(ValidateSpanTest, WhoWasLeftByItsPartnerGoesOn) {
  o_.running = {-1, 1, -1};
  o_.shares = {{0, {1}, 0b1}};
  o_.share_begin = {0, 0, 1, 1};
  Give(6, 1, {{0, {1}, 0b1}});
  EXPECT_EQ(Verdict(), "");
}

// Validation counts by itself, placement and the action mask count in a FreeMap.
TEST(ValidateAgainstFreeMap, OneSaysYesExactlyWhereTheOtherDoes) {
  const ClusterSpec cluster = ClusterSpec::Parse("2x4x7x5,1x3x4");
  int legal = 0;
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Rng rng(seed, "validate-against-free-map");
    const auto below = [&rng](std::uint64_t n) { return static_cast<std::int32_t>(rng.Below(n)); };
    std::deque<ConfigurationTable> tables;
    Observation o;
    o.cluster = &cluster;
    o.share_begin = {0};
    Allocation allocation;
    FreeMap free(cluster);
    bool fits = true;
    for (JobIndex job = 0; job < 4; ++job) {
      const NodeIndex node = below(3);
      const std::uint64_t gpus =
          rng.NextU64() & rng.NextU64() &
          GpuMask(cluster.nodes()[static_cast<std::size_t>(node)].capacity.gpus);
      const Resources demand{std::popcount(gpus), below(5), 1024 * below(4)};
      Configuration one = MakeConfiguration({1}, 0, demand);
      one.cost = one.rate = 1;
      tables.emplace_back("net", std::vector<UnitKind>{{"unit", demand}}, std::vector{one});
      o.Append({.job = job, .table = &tables.back()});
      allocation.Add(job, 0, std::vector<NodeShare>{{node, {1}, gpus}});
      fits = fits && free.TakeExactly(node, gpus, demand);
    }
    const Status verdict = ValidateAllocation(o, allocation);
    ASSERT_EQ(verdict.ok(), fits) << "seed " << seed << ": " << verdict.message();
    ++(fits ? legal : refused);
  }
  EXPECT_GT(legal, 300);
  EXPECT_GT(refused, 300);
}

}  // namespace
}  // namespace allot
