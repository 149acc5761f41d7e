#include "cluster/change_history.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

using Times = std::vector<Seconds>;

TEST(ChangeHistoryTest, WithoutRulesNothingIsHeld) {
  ChangeHistory history;
  history.Given(100, true);
  history.Given(101, false);
  EXPECT_FALSE(history.HoldOf({}, 101));
}

TEST(ChangeHistoryTest, ACooldownBeginsWithEveryChange) {
  const JobRules rules{.cooldown = 60};
  ChangeHistory history;
  history.Given(100, true);
  const Hold hold = history.HoldOf(rules, 159);
  EXPECT_EQ(hold.rule, HoldingRule::kCooldown);
  EXPECT_EQ(hold.until, 160);
  EXPECT_FALSE(history.HoldOf(rules, 160));
  history.Given(170, false);
  EXPECT_EQ(history.HoldOf(rules, 170).until, 230);
}

TEST(ChangeHistoryTest, RestartsAreCountedWithinAnHour) {
  const JobRules rules{.restarts_per_hour = 2};
  ChangeHistory history;
  history.Given(0, true);
  history.Given(1000, false);
  EXPECT_FALSE(history.HoldOf(rules, 1000)) << "the first launch is no restart";
  history.Given(2000, false);
  const Hold hold = history.HoldOf(rules, 2000);
  EXPECT_EQ(hold.rule, HoldingRule::kRestarts);
  EXPECT_EQ(hold.until, 4600);
  EXPECT_FALSE(history.HoldOf(rules, 4600));
  history.Given(4700, false);
  EXPECT_EQ(history.HoldOf(rules, 4700).until, 5600);
  EXPECT_EQ(history.restarts(), (Times{2000, 4700})) << "older ones are forgotten";
}

TEST(ChangeHistoryTest, NoRestartsAnHourAreNoneEver) {
  ChangeHistory history;
  history.Given(0, true);
  EXPECT_EQ(history.HoldOf({.restarts_per_hour = 0}, 9999).until, kNever);
}

TEST(ChangeHistoryTest, TheLongestHoldIsTold) {
  ChangeHistory history;
  history.Given(0, true);
  history.Given(10, false);
  EXPECT_EQ(history.HoldOf({.cooldown = 60, .restarts_per_hour = 1}, 20).rule,
            HoldingRule::kRestarts);
  EXPECT_EQ(history.HoldOf({.cooldown = 7200, .restarts_per_hour = 1}, 20).rule,
            HoldingRule::kCooldown);
  EXPECT_EQ(history.HoldOf({.cooldown = 60, .moves = false}, 20).rule, HoldingRule::kNeverMoved);
}

TEST(ChangeHistoryTest, WhoLostAPartMayBeChangedAtOnce) {
  const JobRules rules{.cooldown = 60, .restarts_per_hour = 0, .moves = false};
  ChangeHistory history;
  history.Given(0, true);
  history.Lost();
  EXPECT_FALSE(history.HoldOf(rules, 1));
  history.Given(2, false);
  EXPECT_TRUE(history.HoldOf(rules, 3));
}

TEST(ChangeHistoryTest, AJournalBringsItBack) {
  const JobRules rules{.cooldown = 60, .restarts_per_hour = 2};
  ChangeHistory history;
  for (const Seconds time : {0.0, 50.0, 90.0}) history.Given(time, time == 0);
  const ChangeHistory again = ChangeHistory::Of(history.last(), history.restarts(), history.lost());
  for (const Seconds now : {91.0, 149.0, 3649.0, 3651.0}) {
    EXPECT_EQ(again.HoldOf(rules, now).until, history.HoldOf(rules, now).until);
  }
}

}  // namespace
}  // namespace allot
