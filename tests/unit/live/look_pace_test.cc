#include "live/port/look_pace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace allot {
namespace {

// Every `every` seconds there is news, and the first look after it takes `news`, others `no_news`.
// The share of a core that looks take in this time, from a long rest on.
double ShareOfACore(Seconds every, Seconds news, Seconds no_news, Seconds time) {
  LookPace pace;
  for (int i = 0; i < 100; ++i) pace.Looked(0, no_news, false);
  Seconds now = 0;
  Seconds used = 0;
  Seconds next_news = every;
  while (now < time) {
    const bool event = now >= next_news;
    if (event) next_news += every * std::floor((now - next_news) / every + 1);
    const Seconds look = event ? news : no_news;
    used += look;
    now += look;
    pace.Looked(now, look, event);
    now += std::max(0.1, pace.Rest(now));
  }
  return used / time;
}

TEST(LookPace, LooksThatFindNothingHaveAHundredthOfACore) {
  EXPECT_LT(ShareOfACore(1e9, 1, 0.005, 100), 0.011);
}

// As of Slurm with 10,000 jobs, which says at once that nothing has changed.
TEST(LookPace, CheapLooksBetweenDearOnesDoNotHastenThem) {
  EXPECT_LT(ShareOfACore(1, 0.07, 0.005, 20), 0.08);
  EXPECT_LT(ShareOfACore(0.3, 0.07, 0.005, 20), 0.08);
}

TEST(LookPace, AfterOneDearLookTheNextOnesAreSoonAsOftenAsBefore) {
  LookPace pace;
  for (int i = 0; i < 100; ++i) pace.Looked(i, 0.001, true);
  pace.Looked(100, 0.1, true);
  EXPECT_LT(pace.Rest(100), 0.5);
  for (int i = 0; i < 10; ++i) pace.Looked(100, 0.001, true);
  EXPECT_LT(pace.Rest(100), 0.05);
}

TEST(LookPace, AfterNewsItRestsLessThanAFifthAsLong) {
  LookPace pace;
  for (int i = 0; i < 100; ++i) pace.Looked(0, 0.001, false);
  const Seconds idle = pace.Rest(0);
  pace.Looked(0, 0.001, true);
  EXPECT_LE(pace.Rest(1), idle / 5);
  EXPECT_EQ(pace.Rest(100), idle) << "long after the news";
}

TEST(LookPace, NoLookIsLaterThanTwoSeconds) {
  LookPace pace;
  for (int i = 0; i < 300; ++i) pace.Looked(0, 10, true);
  EXPECT_EQ(pace.Rest(0), 2) << "after something happened";
  EXPECT_EQ(pace.Rest(100), 2) << "long after that";
}

}  // namespace
}  // namespace allot
