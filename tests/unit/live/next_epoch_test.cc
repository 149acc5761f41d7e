#include "live/runtimes/next_epoch.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

using EpochNames = std::vector<std::string>;

// A job of two workers that trains, as it is wanted.
EpochFacts SettledEpoch() {
  EpochFacts facts;
  facts.latest = {.epoch = 3, .members = {"a", "b"}};
  facts.alive = facts.stay = {"a", "b"};
  facts.reached = true;
  return facts;
}

TEST(NextEpoch, NoneIsDueToAJobThatTrainsAsItIsWanted) {
  EXPECT_FALSE(PlanEpoch(SettledEpoch()));
  EXPECT_FALSE(PlanEpoch(EpochFacts{})) << "nor to one without workers";
}

TEST(NextEpoch, TheFirstHasAllThatCome) {
  EpochFacts facts;
  facts.join = {"a"};
  facts.awaited = true;
  EXPECT_FALSE(PlanEpoch(facts));
  facts.awaited = false;
  const auto next = PlanEpoch(facts);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->membership.epoch, 0);
  EXPECT_EQ(next->membership.members, (EpochNames{"a"}));
}

TEST(NextEpoch, WhoHasWaitedLongEnoughBeginsWithoutTheOthers) {
  EpochFacts facts;
  facts.join = {"a"};
  facts.awaited = facts.impatient = true;
  EXPECT_TRUE(PlanEpoch(facts));
}

TEST(NextEpoch, NewcomersStandBehindThoseThatStay) {
  EpochFacts facts = SettledEpoch();
  facts.join = {"0"};
  const auto next = PlanEpoch(facts);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->membership.epoch, 4);
  EXPECT_EQ(next->membership.members, (EpochNames{"a", "b", "0"}));
  EXPECT_STREQ(next->why, "workers join");
}

TEST(NextEpoch, OneThatIsStillBeingFormedIsNotOvertaken) {
  EpochFacts facts = SettledEpoch();
  facts.join = {"c"};
  facts.reached = false;
  EXPECT_FALSE(PlanEpoch(facts));
}

TEST(NextEpoch, ALostMemberCannotWaitForAnything) {
  EpochFacts facts = SettledEpoch();
  facts.alive = facts.stay = {"b"};
  facts.reached = false;
  facts.awaited = true;
  const auto next = PlanEpoch(facts);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->membership.members, (EpochNames{"b"}));
  EXPECT_STREQ(next->why, "a member was lost");
}

TEST(NextEpoch, MembersThatCannotTrainTogetherMeetAgain) {
  EpochFacts facts = SettledEpoch();
  facts.broken = true;
  const auto next = PlanEpoch(facts);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->membership.epoch, 4);
  EXPECT_EQ(next->membership.members, (EpochNames{"a", "b"}));
}

TEST(NextEpoch, MembersLeaveWithThoseThatJoin) {
  EpochFacts facts = SettledEpoch();
  facts.stay = {"a"};
  facts.awaited = true;
  EXPECT_FALSE(PlanEpoch(facts)) << "who leaves trains on until the others are there";
  facts.awaited = false;
  facts.join = {"c"};
  const auto next = PlanEpoch(facts);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->membership.members, (EpochNames{"a", "c"}));
  EXPECT_STREQ(next->why, "workers leave");
}

TEST(NextEpoch, MembersLeaveAtOnceWhereOthersWaitForEachOthersGpus) {
  EpochFacts facts = SettledEpoch();
  facts.stay = {"a"};
  facts.awaited = facts.blocked = true;
  const auto next = PlanEpoch(facts);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->membership.members, (EpochNames{"a"}));
}

TEST(NextEpoch, WhereNobodyStaysThoseThatLeaveHandTheirStateOverFirst) {
  EpochFacts facts = SettledEpoch();
  facts.stay = {};
  facts.join = {"c"};
  const auto next = PlanEpoch(facts);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->membership.members, (EpochNames{"a", "b", "c"}));
  facts.join = {};
  EXPECT_FALSE(PlanEpoch(facts)) << "there is nobody to take it";
}

}  // namespace
}  // namespace allot
