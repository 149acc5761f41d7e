#include "rules/change_history.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

using Times = std::vector<Seconds>;

TEST(ChangeHistoryTest, WithoutRulesNothingIsPinned) {
  ChangeHistory history;
  history.Given(100, true);
  history.Given(101, false);
  EXPECT_FALSE(history.PinOf({}, 101));
}

TEST(ChangeHistoryTest, ACooldownBeginsWithEveryChange) {
  const JobRules rules{.cooldown = 60};
  ChangeHistory history;
  history.Given(100, true);
  const Pin pin = history.PinOf(rules, 159);
  EXPECT_EQ(pin.rule, PinningRule::kCooldown);
  EXPECT_EQ(pin.until, 160);
  EXPECT_FALSE(history.PinOf(rules, 160));
  history.Given(170, false);
  EXPECT_EQ(history.PinOf(rules, 170).until, 230);
}

TEST(ChangeHistoryTest, RestartsAreCountedWithinAnHour) {
  const JobRules rules{.restarts_per_hour = 2};
  ChangeHistory history;
  history.Given(0, true);
  history.Given(1000, false);
  EXPECT_FALSE(history.PinOf(rules, 1000)) << "the first launch is no restart";
  history.Given(2000, false);
  const Pin pin = history.PinOf(rules, 2000);
  EXPECT_EQ(pin.rule, PinningRule::kRestarts);
  EXPECT_EQ(pin.until, 4600);
  EXPECT_FALSE(history.PinOf(rules, 4600));
  history.Given(4700, false);
  EXPECT_EQ(history.PinOf(rules, 4700).until, 5600);
  EXPECT_EQ(history.restarts(), (Times{2000, 4700})) << "older ones are forgotten";
}

TEST(ChangeHistoryTest, NoRestartsAnHourAreNoneEver) {
  ChangeHistory history;
  history.Given(0, true);
  EXPECT_EQ(history.PinOf({.restarts_per_hour = 0}, 9999).until, kNever);
}

TEST(ChangeHistoryTest, TheLongestPinIsReported) {
  ChangeHistory history;
  history.Given(0, true);
  history.Given(10, false);
  EXPECT_EQ(history.PinOf({.cooldown = 60, .restarts_per_hour = 1}, 20).rule,
            PinningRule::kRestarts);
  EXPECT_EQ(history.PinOf({.cooldown = 7200, .restarts_per_hour = 1}, 20).rule,
            PinningRule::kCooldown);
  EXPECT_EQ(history.PinOf({.cooldown = 60, .moves = false}, 20).rule, PinningRule::kNeverMoved);
}

TEST(ChangeHistoryTest, WhoLostAPartMayBeChangedAtOnce) {
  const JobRules rules{.cooldown = 60, .restarts_per_hour = 0, .moves = false};
  ChangeHistory history;
  history.Given(0, true);
  history.Lost();
  EXPECT_FALSE(history.PinOf(rules, 1));
  history.Given(2, false);
  EXPECT_TRUE(history.PinOf(rules, 3));
}

TEST(ChangeHistoryTest, AJournalBringsItBack) {
  const JobRules rules{.cooldown = 60, .restarts_per_hour = 2};
  ChangeHistory history;
  for (const Seconds time : {0.0, 50.0, 90.0}) history.Given(time, time == 0);
  const ChangeHistory again = ChangeHistory::Of(history.last(), history.restarts(), history.lost());
  for (const Seconds now : {91.0, 149.0, 3649.0, 3651.0}) {
    EXPECT_EQ(again.PinOf(rules, now).until, history.PinOf(rules, now).until);
  }
}

}  // namespace
}  // namespace allot
