#include <gtest/gtest.h>

#include <numeric>

#include "sched/stages.h"
#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::World;
using Gpus = std::vector<std::int16_t>;

// GPUs that each row gets when rows are served in their order.
std::vector<int> Size(const World& world, const std::string& spec) {
  std::vector<std::int32_t> order(world.o.job.size());
  std::iota(order.begin(), order.end(), 0);
  const std::vector<double> keys(order.size(), 0.0);
  std::vector<Grant> grants;
  MakeStage<Sizing>("sizing", spec)->Size(world.o, order, keys, &grants);
  std::vector<int> gpus(order.size(), 0);
  for (const Grant& grant : grants) {
    const auto r = static_cast<std::size_t>(grant.row);
    gpus[r] = (*world.o.table[r])[grant.configuration].demand.gpus;
  }
  return gpus;
}

TEST(RequestedSizingTest, BackfillPassesOverWhatDoesNotFit) {
  World world("1x4");
  world.Add({{1, 1, 1}}, 3);
  world.Add({{1, 1}}, 2);
  world.Add({{1}}, 1);
  EXPECT_EQ(Size(world, "requested"), (std::vector{3, 0, 1}));
}

TEST(RequestedSizingTest, WithoutBackfillTheHeadOfTheLineBlocks) {
  World world("1x4");
  world.Add({{1, 1, 1}}, 3);
  world.Add({{1, 1}}, 2);
  world.Add({{1}}, 1);
  EXPECT_EQ(Size(world, "requested:backfill=false"), (std::vector{3, 0, 0}));
}

TEST(RequestedSizingTest, ARunningJobStaysOnItsGpuType) {
  World world("1x1:slow,1x1:fast");
  world.Add({{1}, {2}});
  world.Run(0, 0, {{0, 1}});
  std::vector<Grant> grants;
  const std::vector<std::int32_t> order = {0};
  MakeStage<Sizing>("sizing", "requested")->Size(world.o, order, std::vector<double>{0}, &grants);
  ASSERT_EQ(grants.size(), 1U);
  EXPECT_EQ(grants[0].configuration, 0);
}

TEST(RequestedSizingTest, AWaitingJobGetsTheFastestTypeWithRoom) {
  World world("1x1:slow,1x1:fast");
  world.Add({{1}, {2}});
  world.Add({{1}, {2}});
  std::vector<Grant> grants;
  const std::vector<std::int32_t> order = {0, 1};
  MakeStage<Sizing>("sizing", "requested")
      ->Size(world.o, order, std::vector<double>{0, 0}, &grants);
  ASSERT_EQ(grants.size(), 2U);
  EXPECT_EQ((*world.o.table[0])[grants[0].configuration].gpu_type, 1);
  EXPECT_EQ((*world.o.table[1])[grants[1].configuration].gpu_type, 0);
}

TEST(DominantShareTest, EqualJobsGetEqualShares) {
  World world("2x6");
  for (int job = 0; job < 4; ++job) world.Add({{1, 2, 3, 4, 5, 6}});
  EXPECT_EQ(Size(world, "dominant-share"), (std::vector{3, 3, 3, 3}));
}

TEST(DominantShareTest, WhatOneJobCannotUseGoesToTheOthers) {
  World world("1x8");
  world.Add({{1}});
  world.Add({{1, 2, 3, 4, 5, 6, 7, 8}});
  EXPECT_EQ(Size(world, "dominant-share"), (std::vector{1, 7}));
}

TEST(DominantShareTest, BalancesDominantResources) {
  // The example of Ghodsi et al., NSDI'11, section 4.1, with GPUs for memory: 9 CPUs and 18 GPUs;
  // tasks of <1 CPU, 4 GPUs> and <3 CPUs, 1 GPU> get 3 and 2 tasks.
  const auto table = [](const Resources& unit, int most) {
    std::vector<Configuration> configurations;
    for (int n = 1; n <= most; ++n) {
      configurations.push_back({.units = {static_cast<std::int16_t>(n)},
                                .gpu_type = 0,
                                .demand = unit * n,
                                .cost = static_cast<double>(n),
                                .rate = static_cast<double>(n)});
    }
    return ConfigurationTable("task", {{"task", unit}}, configurations);
  };
  World world("1x18x9");
  world.Add(table({4, 1}, 4), {1});
  world.Add(table({1, 3}, 3), {1});
  EXPECT_EQ(Size(world, "dominant-share"), (std::vector{12, 2}));
}

TEST(MarginalGainTest, EveryJobGetsAFirstConfiguration) {
  World world("1x3");
  world.Add({{1, 2, 3}});
  world.Add({{1, 1.01}});
  world.Add({{1, 1.01}});
  EXPECT_EQ(Size(world, "marginal-gain"), (std::vector{1, 1, 1}));
}

TEST(MarginalGainTest, ThenTheLargestTimeSavedPerGpu) {
  World world("1x4");
  world.Add({{1, 2, 3}});
  world.Add({{1, 2, 3}});
  world.o.estimated_work = {1000, 100};
  EXPECT_EQ(Size(world, "marginal-gain"), (std::vector{3, 1}));
}

TEST(MarginalGainTest, ADipInTheTableDoesNotStopGrowth) {
  World world("1x4");
  world.Add({{1, 0.9, 0.9, 3}});
  world.o.estimated_work = {100};
  EXPECT_EQ(Size(world, "marginal-gain"), (std::vector{4}));
}

TEST(MarginalGainTest, TwoLinearJobsShareTheCluster) {
  World world("1x4");
  world.Add({{1, 2, 3, 4}});
  world.Add({{1, 2, 3, 4}});
  EXPECT_EQ(Size(world, "marginal-gain"), (std::vector{2, 2}));
}

TEST(MarginalGainTest, TakesTheLargestPartOfAStepThatFits) {
  World world("1x4");
  world.Add({{1, 1.2, 1.5, 2, 8}});  // all of the hull's step, to 5 GPUs, has no room
  world.Add({{1}});
  EXPECT_EQ(Size(world, "marginal-gain"), (std::vector{3, 1}));
}

TEST(MarginalGainTest, LeavesFreeWhatNobodyCanUse) {
  World world("1x4");
  world.Add({{1, 1, 1, 2}});
  world.Add({{1}});
  EXPECT_EQ(Size(world, "marginal-gain"), (std::vector{1, 1}));
}

TEST(MarginalGainTest, StopsWhereMoreDoesNotHelp) {
  World world("1x4");
  world.Add({{1, 2, 2, 1.5}});
  EXPECT_EQ(Size(world, "marginal-gain"), (std::vector{2}));
}

// Whatever the rule, two jobs that can use a GPU each as well as the other leave none free: four
// GPUs of four, in halves where the rule divides at all.
TEST(EverySizingTest, TwoLinearJobsThatAskForHalvesFillTheCluster) {
  for (const SizingInfo& info : Registry<SizingInfo>::Global().entries()) {
    World world("1x4");
    world.Add({{1, 2, 3, 4}}, 2);
    world.Add({{1, 2, 3, 4}}, 2);
    world.o.estimated_work = {1000, 1000};
    const std::vector<int> gpus = Size(world, info.id);
    EXPECT_EQ(gpus[0] + gpus[1], 4) << info.id;
  }
}

TEST(EverySizingTest, OneJobThatMayHaveHalfLeavesTheRestToTheOther) {
  for (const SizingInfo& info : Registry<SizingInfo>::Global().entries()) {
    World world("1x4");
    world.Add({{1, 2}}, 2);
    world.Add({{1, 2, 3, 4}}, 2);
    world.o.estimated_work = {1000, 1000};
    EXPECT_EQ(Size(world, info.id), (std::vector{2, 2})) << info.id;
  }
}

TEST(HullSizingTest, SmallKeysGetMore) {
  World world("1x4");
  world.Add({{1, 2, 3, 4}});
  world.Add({{1, 2, 3, 4}});
  std::vector<Grant> grants;
  const std::vector<std::int32_t> order = {1, 0};
  MakeStage<Sizing>("sizing", "hull:alpha=1,beta=0")
      ->Size(world.o, order, std::vector<double>{10, 90000}, &grants);
  ASSERT_EQ(grants.size(), 1U);
  EXPECT_EQ(grants[0].row, 1);
}

TEST(ReservationTest, WhatTheReservationLeavesOverMayRunOn) {
  World world("1x4");
  for (const std::int16_t gpus : Gpus{2, 3, 1, 1}) world.Add({{1, 1, 1}}, gpus);
  world.Run(0, 1, {{0, 0b0011}});
  world.o.estimated_work = {1000, 10, 5000, 5000};
  EXPECT_EQ(Size(world, "reservation"), (std::vector{2, 0, 1, 0})) << "one GPU is left over";
}

TEST(ReservationTest, WhatEndsBeforeTheShadowTimeMayStart) {
  World world("1x4");
  for (const std::int16_t gpus : Gpus{2, 4, 1, 1}) world.Add({{1, 1, 1, 1}}, gpus);
  world.Run(0, 1, {{0, 0b0011}});
  world.o.estimated_work = {1000, 10, 1001, 1000};
  EXPECT_EQ(Size(world, "reservation"), (std::vector{2, 0, 0, 1}));
}

TEST(ReservationTest, WhatStartedInTheSameDecisionCountsToo) {
  // The first two start; the head waits for the first, which ends earlier.
  World world("1x4");
  for (const std::int16_t gpus : Gpus{2, 1, 3, 1, 1}) world.Add({{1, 1, 1}}, gpus);
  world.o.estimated_work = {500, 3000, 10, 600, 400};
  EXPECT_EQ(Size(world, "reservation"), (std::vector{2, 1, 0, 0, 1}));
}

TEST(ReservationTest, UnknownLengthsDoNotBackfill) {
  World world("1x4");
  for (const std::int16_t gpus : Gpus{2, 4, 1}) world.Add({{1, 1, 1, 1}}, gpus);
  world.Run(0, 1, {{0, 0b0011}});
  EXPECT_EQ(Size(world, "reservation"), (std::vector{2, 0, 0}));
}

TEST(ReservationTest, ReservesOnTheTypeThatIsFreeFirst) {
  // The fast node is free in 1000 s, the slow one in 100 s: there a long job may not start.
  World world("1x2:fast,1x2:slow");
  const std::vector<std::vector<double>> rates = {{2, 2}, {1, 1}};
  for (const std::int16_t gpus : Gpus{1, 1, 2, 1, 1}) world.Add(rates, gpus);
  world.Run(0, 0, {{0, 0b01}});
  world.Run(1, 2, {{1, 0b01}});
  world.o.estimated_work = {2000, 100, 10, 9000, 90};
  std::vector<Grant> grants;
  const std::vector<std::int32_t> order = {0, 1, 2, 3, 4};
  MakeStage<Sizing>("sizing", "reservation")
      ->Size(world.o, order, std::vector<double>(5, 0), &grants);
  ASSERT_EQ(grants.size(), 4U);
  EXPECT_EQ(grants[2].row, 3);
  EXPECT_EQ(grants[2].configuration, 0);  // fast
  EXPECT_EQ(grants[3].row, 4);
  EXPECT_EQ(grants[3].configuration, 2);  // slow, for 90 s
}

TEST(AlignmentTest, WhatOutlivedItsEstimateOrHasNoneStillRuns) {
  World world("1x4");
  world.Add({{1, 1, 1, 1}}, 4);
  world.o.done_work = {500};
  for (const double estimate : {400.0, 500.0, kUnknown}) {
    world.o.estimated_work = {estimate};
    EXPECT_EQ(Size(world, "alignment"), std::vector{4}) << estimate;
  }
}

// Units of `demand` each; the job asks for one.
ConfigurationTable Unit(const Resources& demand) {
  return ConfigurationTable(
      "unit", {{"unit", demand}},
      {{.units = {1}, .gpu_type = 0, .demand = demand, .cost = 1, .rate = 1}});
}

TEST(PackingTest, PrefersWhatAlignsWithWhatIsFree) {
  World world("1x4x16");
  world.Add(Unit({1, 12}), {1});
  world.Run(0, 0, {{0, 0b0001}});
  world.Add(Unit({1, 4}), {1});  // of 3 GPUs and 4 CPUs
  world.Add(Unit({2, 1}), {1});
  world.o.estimated_work = {100, 100, 100};
  EXPECT_EQ(Size(world, "packing"), (std::vector{1, 0, 2}));
}

TEST(PackingTest, PrefersTheShorterOfEqualDemands) {
  World world("1x4x16");
  world.Add(Unit({3, 1}), {1});
  world.Add(Unit({3, 1}), {1});
  world.o.estimated_work = {101, 100};
  EXPECT_EQ(Size(world, "packing"), (std::vector{0, 3}));
}

TEST(PackingTest, LeavesRunningJobsAlone) {
  World world("1x4x16");
  world.Add(Unit({3, 1}), {1});
  world.Add(Unit({3, 1}), {1});
  world.Run(0, 0, {{0, 0b0111}});
  world.o.estimated_work = {9000, 100};
  EXPECT_EQ(Size(world, "packing"), (std::vector{3, 0}));
}

TEST(ProgressiveTest, EqualJobsGetEqualShares) {
  World world("2x4");
  for (int job = 0; job < 3; ++job) world.Add({{1, 1.9, 2.7, 3.4, 4.0}});
  EXPECT_EQ(Size(world, "progressive"), (std::vector{3, 3, 2}));
}

TEST(ProgressiveTest, WhatOneCannotUseGoesToTheOthers) {
  World world("1x6");
  world.Add({{1, 2, 3, 4, 5, 6}});
  world.Add({{1, 1.2}});
  EXPECT_EQ(Size(world, "progressive"), (std::vector{4, 2}));
}

TEST(ProgressiveTest, LevelsAreSharesOfTheRateAtAnEqualShare) {
  // At 3 GPUs each both would have their equal-share rates, 3 and 1.4; level at every step.
  World world("1x6");
  world.Add({{1, 2, 3, 4, 5, 6}});
  world.Add({{1, 1.2, 1.4, 1.5}});
  EXPECT_EQ(Size(world, "progressive"), (std::vector{3, 3}));
}

TEST(PromisedSizingTest, WhatIsLeftGoesWhereItGainsMost) {
  World world("1x4");
  world.Add({{4, 6, 7}});
  world.Add({{4, 7.5, 10}});
  EXPECT_EQ(Size(world, "promised"), (std::vector{1, 3})) << "slopes 2 and 1, 3.5 and 2.5";
}

TEST(PromisedSizingTest, AWaitingJobGetsItsSpeedFromWhoLosesLeast) {
  World world("1x4");
  world.Add({{4, 6, 6.5, 6.6}});
  world.Add({{4}});
  world.Run(0, 3, {{0, 0xf}});
  world.o.now = 1e6;
  EXPECT_EQ(Size(world, "promised"), (std::vector{3, 1}));
}

TEST(PromisedSizingTest, ASmallerConfigurationMayKeepThePromise) {
  World world("1x4");
  world.Add({{4, 8, 7, 7.9}}, 4);
  EXPECT_EQ(Size(world, "promised"), (std::vector{2}));
}

TEST(PromisedSizingTest, NobodyShrinksBelowItsPromise) {
  World world("1x4");
  world.Add({{1, 2, 3, 4}}, 4);
  world.Add({{4}});
  world.Run(0, 3, {{0, 0xf}});
  world.o.now = 1e6;
  EXPECT_EQ(Size(world, "promised"), (std::vector{4, 0}));
}

TEST(PromisedSizingTest, AJobThatRestartedMuchStaysAsItIs) {
  World world("1x4");
  world.Add({{4, 6, 6.5, 6.6}});
  world.Add({{4}});
  world.Run(0, 3, {{0, 0xf}});
  world.o.now = 600;  // two restarts of 30 s are more than 3 % of it
  EXPECT_EQ(Size(world, "promised"), (std::vector{4, 0}));
}

}  // namespace
}  // namespace allot
