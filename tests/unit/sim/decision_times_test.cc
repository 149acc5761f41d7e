#include "sim/decision_times.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

SimOptions Every100() {
  SimOptions options;
  options.interval = 100;
  return options;
}

TEST(DecisionTimes, FallOnMultiplesOfTheInterval) {
  const SimOptions options = Every100();
  const DecisionTimes times(options);
  EXPECT_EQ(times.IntervalAtOrAfter(200), 200);
  EXPECT_EQ(times.IntervalAfter(200), 300);
  EXPECT_EQ(times.AtOrAfter(201), 300);
  EXPECT_EQ(times.ForEvent(201, 150), 300);
  EXPECT_EQ(times.ForEvent(200, 200), 300);  // now has been decided on
}

TEST(DecisionTimes, FallOnEventsByOption) {
  SimOptions options = Every100();
  options.decide_on_events = true;
  EXPECT_EQ(DecisionTimes(options).AtOrAfter(201), 201);
  EXPECT_EQ(DecisionTimes(options).ForEvent(201, 200), 201);
}

TEST(DecisionTimes, AreRareInVeryLongQuietTimes) {
  const SimOptions options = Every100();
  EXPECT_EQ(DecisionTimes(options).QuietAfter(1e7, 0), 1e7 + 100);
  EXPECT_EQ(DecisionTimes(options).QuietAfter(1e9, 0), 1e9 + 10'000);
}

TEST(DecisionTimes, WholeIntervalsEndAtAnInstantAfterTheRestart) {
  SimOptions options = Every100();
  EXPECT_EQ(DecisionTimes(options).EndOf(250, 0), 250);
  options.charge_whole_intervals = true;
  const DecisionTimes times(options);
  EXPECT_EQ(times.EndOf(250, 0), 300);
  EXPECT_EQ(times.EndOf(300 + 1e-9, 0), 300);  // rounding
  EXPECT_EQ(times.EndOf(250, 330), 400);
  EXPECT_EQ(times.EndOf(kNever, 0), kNever);
}

}  // namespace
}  // namespace allot
