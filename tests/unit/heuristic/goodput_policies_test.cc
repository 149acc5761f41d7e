// Policies for jobs that choose their batch: what they make of an observation. Their problems have
// tests of their own (tests/unit/solve).

#include <gtest/gtest.h>

#include "sched/policy.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::GpuTable;
using testing_support::World;
using Rates = std::vector<std::vector<double>>;

// GPUs by job, and on how many nodes.
std::map<JobIndex, std::pair<GpuCount, int>> Given(Policy* policy, const Observation& o) {
  Allocation allocation;
  policy->Decide(o, &allocation);
  std::map<JobIndex, std::pair<GpuCount, int>> given;
  for (const Allocation::Entry& entry : allocation.entries()) {
    GpuCount gpus = 0;
    for (const NodeShare& share : allocation.shares(entry)) gpus += share.units.of(0);
    given[entry.job] = {gpus, entry.share_count};
  }
  return given;
}
auto Given(const World& world, const std::string& spec) {
  return Given(MakePolicy(spec).get(), world.o);
}

const Rates kScales = {{1, 1.9, 2.7, 3.4, 4.0, 4.5, 4.9, 5.2}};

TEST(PolluxPolicyTest, EqualJobsShareEqually) {
  for (const char* spec : {"pollux", "pollux:search=genetic"}) {
    World world("2x4");
    for (int job = 0; job < 2; ++job) world.Add(kScales);
    world.o.now = 1000;
    const auto given = Given(world, spec);
    ASSERT_EQ(given.size(), 2U) << spec;
    EXPECT_EQ(given.at(0), (std::pair{4, 1})) << spec;
    EXPECT_EQ(given.at(1), (std::pair{4, 1})) << spec;
  }
}

TEST(PolluxPolicyTest, AJobGetsNoMoreThanIsTrusted) {
  World world("2x4");
  ConfigurationTable table = GpuTable(kScales);
  table.Renew(kScales.front(), {2});
  world.Add(table, {1});
  world.o.now = 1000;
  EXPECT_EQ(Given(world, "pollux").at(0).first, 2);
}

TEST(PolluxPolicyTest, AJobThatChangedOftenStays) {
  World world("1x4");
  world.Add(kScales);
  world.Run(0, 1, {{0, 3}});
  world.o.now = 1000;
  EXPECT_EQ(Given(world, "pollux").at(0).first, 4);
  world.o.changes[0] = 20;  // 19 restarts of 30 s
  EXPECT_EQ(Given(world, "pollux").at(0).first, 2);
}

TEST(PolluxPolicyTest, TypesAreNotMixedInAJob) {
  World world("1x2:v100,1x2:k80");
  world.Add({{1, 1.9, 2.7, 3.4}, {0.5, 1, 1.4, 1.8}});
  world.o.now = 1000;
  const auto given = Given(world, "pollux");
  EXPECT_EQ(given.at(0), (std::pair{2, 1}));
}

TEST(PolluxPolicyTest, OnlyKnownSearches) {
  ExpectError(ExitCode::kUsage, {"'search' must be exact or genetic", "random"},
              [] { (void)MakePolicy("pollux:search=random"); });
}

TEST(SiaPolicyTest, WhoGainsMostGetsTheFasterType) {
  World world("1x1:v100,1x1:k80");
  world.Add({{2}, {1}});
  world.Add({{10}, {1}});
  world.o.now = 1000;
  for (std::size_t row = 0; row < 2; ++row) world.o.done_work[row] = 100;
  Allocation allocation;
  MakePolicy("sia")->Decide(world.o, &allocation);
  ASSERT_EQ(allocation.entries().size(), 2U);
  EXPECT_EQ(allocation.shares(allocation.entries()[0]).front().node, 1);
  EXPECT_EQ(allocation.shares(allocation.entries()[1]).front().node, 0);
}

TEST(SiaPolicyTest, SizesArePowersOfTwoOfANodeThenWholeNodes) {
  World world("3x4");
  Rates rates(1);
  for (int gpus = 1; gpus <= 12; ++gpus) rates.front().push_back(gpus);
  world.Add(rates);
  world.o.now = 1000;
  world.o.done_work[0] = 1;
  EXPECT_EQ(Given(world, "sia").at(0), (std::pair{12, 3}));
  world.Add({{1, 2, 3}});  // two GPUs, not three; then the other has two nodes
  world.o.done_work[1] = 1;
  EXPECT_EQ(Given(world, "sia").at(1).first, 2);
  EXPECT_EQ(Given(world, "sia").at(0).first, 8);
}

TEST(SiaPolicyTest, AJobThatRestartsStays) {
  World world("1x4");
  world.Add(kScales);
  world.o.restart_cost[0] = 100;
  const auto policy = MakePolicy("sia");
  policy->OnEpisodeStart({});
  world.o.now = 1000;
  EXPECT_EQ(Given(policy.get(), world.o).at(0).first, 4);
  world.Run(0, 1, {{0, 3}});  // it got two
  world.o.now = 1060;
  EXPECT_EQ(Given(policy.get(), world.o).at(0).first, 2) << "60 s of 100 s are over";
  world.o.now = 2000;
  EXPECT_EQ(Given(policy.get(), world.o).at(0).first, 4);
}

TEST(SiaPolicyTest, WhatAJobDidNothingOnIsAllTheSame) {
  World world("1x1:v100,1x1:k80");
  ConfigurationTable table = GpuTable({{2}, {1}});
  table.Renew({{2, 1}}, {1});
  world.Add(table, {1});
  world.Run(0, 1, {{1, 1}});  // it restarts still, and would be twice as fast elsewhere
  world.o.attained_seconds[0] = 600;
  world.o.now = 1000;
  Allocation allocation;
  const auto policy = MakePolicy("sia");
  policy->Decide(world.o, &allocation);
  EXPECT_EQ(allocation.shares(allocation.entries()[0]).front().node, 1);
  world.o.done_work[0] = 1;
  world.o.now = 2000;
  policy->Decide(world.o, &allocation);
  EXPECT_EQ(allocation.shares(allocation.entries()[0]).front().node, 0);
}

TEST(IndexPolicyTest, JointChoiceSeesWhatAnotherJobNeeds) {
  World world("1x1:v100,1x1:k80");
  world.Add({{2}, {1.9}});
  world.Add({{10}, {1}});
  world.o.estimated_work = {1e6, 1e6};
  Allocation allocation;
  MakePolicy("index:joint=true")->Decide(world.o, &allocation);
  ASSERT_EQ(allocation.entries().size(), 2U);
  for (const Allocation::Entry& entry : allocation.entries()) {
    EXPECT_EQ(allocation.shares(entry).front().node, entry.job == 0 ? 1 : 0);
  }
}

TEST(IndexPolicyTest, JointChoicePaysForRestarts) {
  World world("1x4");
  world.Add(kScales);
  world.Run(0, 1, {{0, 3}});  // on two GPUs
  world.o.now = 1000;
  world.o.estimated_work = {1000};
  EXPECT_EQ(Given(world, "index:joint=true,kappa=0").at(0).first, 4);
  EXPECT_EQ(Given(world, "index:joint=true,kappa=2").at(0).first, 2);
  world.o.estimated_work = {40};  // 21 s left, and a restart takes 30 s
  EXPECT_EQ(Given(world, "index:joint=true,kappa=0").at(0).first, 2);
}

TEST(IndexPolicyTest, JointChoiceNeedsAWorthOfWaiting) {
  World world("1x4");
  world.Add(kScales);
  world.o.estimated_work = {1000};
  ExpectError(ExitCode::kUsage, {"'waiting' above 0", "beta 2"},
              [&] { (void)Given(world, "index:joint=true,beta=2"); });
  EXPECT_EQ(Given(world, "index:joint=true,beta=2,waiting=0.01").at(0).first, 4);
}

TEST(IndexPolicyTest, JointChoiceRefusesWhatItWouldIgnore) {
  for (const char* parameter : {"sizes=1|2", "repay=true", "first-bonus=1", "types=greedy"}) {
    ExpectError(ExitCode::kUsage, {"joint=true cannot have"},
                [&] { (void)MakePolicy(std::string("index:joint=true,") + parameter); });
  }
}

TEST(IndexPolicyTest, SizesAreKeptTo) {
  World world("2x4");
  world.Add(kScales);
  world.o.estimated_work = {1e6};
  EXPECT_EQ(Given(world, "index:beta=0").at(0).first, 8);
  EXPECT_EQ(Given(world, "index:beta=0,sizes=1|2|4").at(0).first, 4);
  ExpectError(ExitCode::kUsage, {"'sizes' must be whole numbers that rise", "2|1"},
              [] { (void)MakePolicy("index:sizes=2|1"); });
}

TEST(IndexPolicyTest, AJobKeepsItsSizeWhereAnotherWouldNotRepay) {
  World world("1x4");
  world.Add(kScales);
  world.Run(0, 0, {{0, 1}});
  world.o.restart_cost[0] = 30;
  world.o.estimated_work = {40};  // 40 s as it runs; on four GPUs 30 s + 12 s
  EXPECT_EQ(Given(world, "index:kappa=0").at(0).first, 4);
  EXPECT_EQ(Given(world, "index:kappa=0,repay=true").at(0).first, 1);
  world.o.estimated_work = {50};  // 50 s against 45 s
  EXPECT_EQ(Given(world, "index:kappa=0,repay=true").at(0).first, 4);
}

TEST(IndexPolicyTest, JobsThatEndSoonAreStickier) {
  World world("1x4");
  world.Add(kScales);
  world.Run(0, 0, {{0, 1}});
  world.Add({{0.001}});
  world.o.estimated_work = {1e5, 1e3};
  // Beyond its GPU its steps come after the other's first one, which is worth less than nothing.
  EXPECT_GT(Given(world, "index:kappa=0").at(0).first, 1);
  world.o.estimated_work[0] = 10;
  const auto sticky = Given(world, "index:kappa=0,soon=50");
  EXPECT_EQ(sticky.at(1).first, 1);
}

}  // namespace
}  // namespace allot
