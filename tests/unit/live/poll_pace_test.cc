#include "live/port/poll_pace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace allot {
namespace {

// The fraction of a core that polls use in `time`. Every `every` seconds there is a change, and the
// first poll after it costs `change`, others `no_change`.
double FractionOfACore(Seconds every, Seconds change, Seconds no_change, Seconds time) {
  PollPace pace;
  for (int i = 0; i < 100; ++i) pace.CountPoll(0, no_change, false);
  Seconds now = 0;
  Seconds used = 0;
  Seconds next_change = every;
  while (now < time) {
    const bool event = now >= next_change;
    if (event) next_change += every * std::floor((now - next_change) / every + 1);
    const Seconds cost = event ? change : no_change;
    used += cost;
    now += cost;
    pace.CountPoll(now, cost, event);
    now += std::max(0.1, pace.PauseAt(now));
  }
  return used / time;
}

TEST(PollPace, PollsWithoutChangesUseOnePercentOfACore) {
  EXPECT_LT(FractionOfACore(1e9, 1, 0.005, 100), 0.011);
}

// The costs are those of Slurm with 10,000 jobs, whose polls without changes are cheap.
TEST(PollPace, CheapPollsDoNotHastenExpensiveOnes) {
  EXPECT_LT(FractionOfACore(1, 0.07, 0.005, 20), 0.08);
  EXPECT_LT(FractionOfACore(0.3, 0.07, 0.005, 20), 0.08);
}

TEST(PollPace, OneExpensivePollIsSoonForgotten) {
  PollPace pace;
  for (int i = 0; i < 100; ++i) pace.CountPoll(i, 0.001, true);
  pace.CountPoll(100, 0.1, true);
  EXPECT_LT(pace.PauseAt(100), 0.5);
  for (int i = 0; i < 10; ++i) pace.CountPoll(100, 0.001, true);
  EXPECT_LT(pace.PauseAt(100), 0.05);
}

TEST(PollPace, PausesAreShortAfterAChange) {
  PollPace pace;
  for (int i = 0; i < 100; ++i) pace.CountPoll(0, 0.001, false);
  const Seconds idle = pace.PauseAt(0);
  pace.CountPoll(0, 0.001, true);
  EXPECT_LE(pace.PauseAt(1), idle / 5);
  EXPECT_EQ(pace.PauseAt(100), idle) << "long after the change";
}

TEST(PollPace, NoPauseExceedsTwoSeconds) {
  PollPace pace;
  for (int i = 0; i < 300; ++i) pace.CountPoll(0, 10, true);
  EXPECT_EQ(pace.PauseAt(0), 2) << "after a change";
  EXPECT_EQ(pace.PauseAt(100), 2) << "long after it";
}

}  // namespace
}  // namespace allot
