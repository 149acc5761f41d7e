#include "cluster/validate.h"

#include <gtest/gtest.h>

#include <string>

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

TEST_F(ValidateTest, ChangesLeaveTheOthersWhatTheyHold) {
  observation_.running = {0, -1};
  observation_.share_begin = {0, 1, 1};
  observation_.shares = {{0, {1, 0}, 0b0010}};
  allocation_.BecomeChanges();
  EXPECT_EQ(Verdict(), "");
  Give(20, 0, {{0, {1, 0}, 0b0010}});
  EXPECT_EQ(Verdict(), "job 20: GPU 1 of node 0 is given twice, first to job 17");
  allocation_.Stop(17);
  EXPECT_EQ(Verdict(), "");
}

TEST_F(ValidateTest, OnlyWhatRunsIsStoppedAndOnce) {
  observation_.running = {0, -1};
  observation_.share_begin = {0, 1, 1};
  observation_.shares = {{0, {1, 0}, 0b0010}};
  allocation_.BecomeChanges();
  allocation_.Stop(17);
  EXPECT_EQ(Verdict(), "");
  allocation_.Stop(17);
  EXPECT_EQ(Verdict(), "job 17: a job is named once, its stop follows another answer");
  allocation_.Clear();
  allocation_.BecomeChanges();
  allocation_.Stop(20);
  EXPECT_EQ(Verdict(), "job 20: only jobs that run can be stopped, it is none of the 1");
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

}  // namespace
}  // namespace allot
