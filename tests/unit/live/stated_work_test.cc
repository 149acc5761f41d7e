#include "live/state/stated_work.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

constexpr std::int32_t kEve = 1;

TEST(StatedWork, StatementsAreMultipliedByWhatEarlierJobsNeeded) {
  StatedWork work;
  work.Add(kEve, {.stated = 10, .needed = 100}, 0);
  EXPECT_DOUBLE_EQ(work.FactorOf(kEve, {}, 0), 10);
  EXPECT_DOUBLE_EQ(work.FactorOf(0, {}, 0), 1) << "another user";
}

TEST(StatedWork, AUserWhoStatesAboutRightlyOrTooMuchIsNotAffected) {
  StatedWork work;
  work.Add(kEve, {.stated = 10, .needed = 14}, 0);
  EXPECT_DOUBLE_EQ(work.FactorOf(kEve, {}, 0), 1);
  work.Add(kEve, {.stated = 1000, .needed = 10}, 0);
  EXPECT_DOUBLE_EQ(work.FactorOf(kEve, {}, 0), 1);
}

TEST(StatedWork, JobsThatRunLongerThanStatedCount) {
  EXPECT_DOUBLE_EQ(StatedWork().FactorOf(kEve, {.stated = 1, .needed = 600}, 0), 600);
}

TEST(StatedWork, ManyTinyJobsDoNotOutweighALargeOne) {
  StatedWork work;
  work.Add(kEve, {.stated = 1, .needed = 1000}, 0);
  for (int job = 0; job < 100; ++job) work.Add(kEve, {.stated = 1, .needed = 1}, 0);
  EXPECT_GT(work.FactorOf(kEve, {}, 0), 10);
}

TEST(StatedWork, WhatWasAWeekAgoCountsHalf) {
  StatedWork work;
  work.Add(kEve, {.stated = 10, .needed = 100}, 0);
  work.Add(kEve, {.stated = 5, .needed = 5}, 7 * 86400);
  EXPECT_DOUBLE_EQ(work.FactorOf(kEve, {}, 7 * 86400), 55.0 / 10);
}

}  // namespace
}  // namespace allot
