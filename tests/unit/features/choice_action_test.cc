// The mask of choices against ValidateAllocation, and how choices are served.

#include "features/choice_action.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/index.h"
#include "tests/unit/features/small_placements.h"

namespace allot {
namespace {

using testing_support::AddJobs;
using testing_support::Dl2Demands;
using testing_support::DrawDemands;
using testing_support::OddDemands;
using testing_support::Placements;
using testing_support::World;

constexpr int kChoices = 12;

bool Allowed(const ChoiceAction& action, int slot, int choice) {
  return action.mask()[At(slot) * (kChoices + 1) + At(choice)] == 1;
}

// Choices of the window, all 0 but one.
std::vector<float> Only(const ChoiceAction& action, int slot, int choice) {
  std::vector<float> choices(static_cast<std::size_t>(action.window()));
  choices[static_cast<std::size_t>(slot)] = static_cast<float>(choice);
  return choices;
}

// Whether some placement of the configuration alone validates.
bool Possible(const World& world, std::int32_t row, std::int32_t configuration) {
  std::vector<std::int32_t> alone(world.o.job.size(), -1);
  alone[static_cast<std::size_t>(row)] = configuration;
  return Placements(world, alone).AnyValidates();
}

// Every choice of every slot: allowed exactly when it can be placed alone, and then it is.
void ExpectMaskSaysWhatValidationSays(const World& world, int* legal, int* refused) {
  ChoiceAction action(world.o.rows() + 1, kChoices);
  action.Begin(world.o);
  for (int slot = 0; slot < action.window(); ++slot) {
    ASSERT_TRUE(Allowed(action, slot, 0));
    const std::int32_t row = slot < action.slots() ? action.row_of(slot) : -1;
    for (int choice = 1; choice <= kChoices; ++choice) {
      const bool exists =
          row >= 0 && choice - 1 < world.o.table[static_cast<std::size_t>(row)]->size();
      const bool possible = exists && Possible(world, row, choice - 1);
      ASSERT_EQ(Allowed(action, slot, choice), possible) << "slot " << slot << ", " << choice;
      Allocation allocation;
      const ChoiceAction::Served served = action.Decode(Only(action, slot, choice), &allocation);
      ASSERT_EQ(served.illegal_slot, possible ? -1 : slot);
      ASSERT_EQ(served.unplaced, 0) << "slot " << slot << ", " << choice;
      ASSERT_EQ(allocation.entries().size(), possible ? 1U : 0U);
      ASSERT_EQ(ValidateAllocation(world.o, allocation).message(), "");
      if (possible) {
        ASSERT_EQ(allocation.entries()[0].configuration, choice - 1);
      }
      ++*(possible ? legal : refused);
    }
  }
}

void ExploreWorlds(const std::vector<const char*>& clusters, DrawDemands draw) {
  int legal = 0;
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Rng rng(seed, "choice-mask-test");
    World world(clusters[seed % clusters.size()]);
    AddJobs(&rng, 3, draw, &world);
    ExpectMaskSaysWhatValidationSays(world, &legal, &refused);
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed;
  }
  EXPECT_GT(legal, 100);
  EXPECT_GT(refused, 100);
}

TEST(ChoiceAction, MaskSaysWhatValidationSays) {
  ExploreWorlds({"2x2x4:a", "1x2x4:a,1x2x2:b"}, Dl2Demands);
}

TEST(ChoiceAction, MaskSaysWhatValidationSaysOfUnitsOfSeveralGpus) {
  ExploreWorlds({"2x3x5x4:a", "1x4x7:a,1x3x5x2:a,1x2x3:b", "3x2x3:a"}, OddDemands);
}

TEST(ChoiceAction, MaskKnowsSpansAndPartners) {
  constexpr Span kOne = {1, 1};
  constexpr Span kSeveral = {2, Span::kAny};
  constexpr Span kThree = {3, 3};
  std::vector<Configuration> configurations;
  for (int gpus = 1; gpus <= 4; ++gpus) {
    for (const Span& span : {kOne, kSeveral, kThree}) {
      configurations.push_back({.units = {gpus},
                                .gpu_type = 0,
                                .span = span,
                                .demand = {gpus, 0},
                                .cost = static_cast<double>(gpus),
                                .rate = 1.0 + gpus});
    }
  }
  for (const char* cluster : {"2x2", "1x3,1x1", "3x2", "1x4"}) {
    World world(cluster);
    world.Add(ConfigurationTable("spans", {{"gpu", {1, 0}}}, configurations), {1});
    int legal = 0;
    int refused = 0;
    ExpectMaskSaysWhatValidationSays(world, &legal, &refused);
    EXPECT_GT(legal, 0) << cluster;
  }
  World world("1x2");
  std::vector<Configuration> pair = {
      {.units = {1}, .demand = {1, 0}, .cost = 1, .rate = 2},
      {.units = {1}, .partner = 0, .demand = {1, 0}, .cost = 1, .rate = 1}};
  world.Add(ConfigurationTable("pairs", {{"gpu", {1, 0}}}, pair, ConfigurationTable::kNoLimits,
                               {"other"}),
            {1});
  ChoiceAction action(1, kChoices);
  action.Begin(world.o);
  for (std::int32_t index = 0; index < 2; ++index) {
    const bool alone = (*world.o.table[0])[index].partner == kNoPartner;
    EXPECT_EQ(Allowed(action, 0, index + 1), alone) << "a choice names one job";
  }
}

TEST(ChoiceAction, MaskFollowsTheCluster) {
  World world("2x2");
  world.Add({{1, 2, 3, 4}});
  ChoiceAction action(1, kChoices);
  action.Begin(world.o);
  EXPECT_TRUE(Allowed(action, 0, 4));
  ClusterSpec cluster = *world.o.cluster;
  cluster.SetCapacity(1, {});  // the node goes down
  Observation later = world.o;
  later.cluster = &cluster;
  action.Begin(later);
  EXPECT_TRUE(Allowed(action, 0, 2));
  EXPECT_FALSE(Allowed(action, 0, 4));
}

TEST(ChoiceAction, ConfigurationsBeyondTheWidthCannotBeChosen) {
  World world("1x8");
  world.Add({{1, 2, 3, 4, 5, 6, 7, 8}});
  ChoiceAction action(1, 3);
  action.Begin(world.o);
  EXPECT_EQ(action.mask(), (std::vector<std::uint8_t>{1, 1, 1, 1}));
  Allocation allocation;
  EXPECT_EQ(action.Decode(std::vector<float>{4}, &allocation).illegal_slot, 0);
  EXPECT_TRUE(allocation.entries().empty());
}

TEST(ChoiceAction, ServesInTheOrderOfSlotsWhatFits) {
  World world("1x4");
  for (int job = 0; job < 3; ++job) world.Add({{1, 2, 3, 4}});
  ChoiceAction action(3, kChoices);
  action.Begin(world.o);
  Allocation allocation;
  // 3 GPUs, then 2 that do not fit any more, then 1 that does.
  const ChoiceAction::Served served = action.Decode(std::vector<float>{3, 2, 1}, &allocation);
  EXPECT_EQ(served.unplaced, 1);
  EXPECT_EQ(served.illegal_slot, -1);
  ASSERT_EQ(allocation.entries().size(), 2U);
  EXPECT_EQ(allocation.entries()[0].job, world.o.job[0]);
  EXPECT_EQ(allocation.entries()[1].job, world.o.job[2]);
}

TEST(ChoiceAction, AnEarlierSlotGoesBeforeALaterJobThatRuns) {
  World world("1x4");
  for (int job = 0; job < 2; ++job) world.Add({{1, 2, 3, 4}});
  world.Run(1, 3, {{0, 0xF}});
  ChoiceAction action(2, kChoices);
  action.Begin(world.o);
  Allocation allocation;
  EXPECT_EQ(action.Decode(std::vector<float>{1, 4}, &allocation).unplaced, 1);
  ASSERT_EQ(allocation.entries().size(), 1U);
  EXPECT_EQ(allocation.entries()[0].job, world.o.job[0]);
}

TEST(ChoiceAction, WhatIsNoChoiceCountsAsZeroAndNamesItsSlot) {
  World world("1x4");
  for (int job = 0; job < 2; ++job) world.Add({{1, 2, 3, 4}});
  ChoiceAction action(2, kChoices);
  action.Begin(world.o);
  const float none[] = {-1,
                        0.5F,
                        5,
                        13,
                        1e30F,
                        std::numeric_limits<float>::quiet_NaN(),
                        std::numeric_limits<float>::infinity()};
  for (const float odd : none) {
    Allocation allocation;
    EXPECT_EQ(action.Decode(std::vector<float>{1, odd}, &allocation).illegal_slot, 1) << odd;
    EXPECT_EQ(allocation.entries().size(), 1U) << odd;
  }
}

}  // namespace
}  // namespace allot
