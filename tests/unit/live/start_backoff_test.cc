#include "live/workers/start_backoff.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

constexpr BackoffOptions kPauses{.most_failures = 6, .first = 0.5, .longest = 30};

TEST(StartBackoff, EachFailureDoublesThePauseUpToTheLongest) {
  StartBackoff backoff;
  Seconds now = 100;
  for (const Seconds pause : {0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0}) {
    backoff.Failed(0, now, kPauses);
    EXPECT_EQ(backoff.not_before, now + pause);
    now = backoff.not_before;
  }
  EXPECT_EQ(backoff.failures, 8);
}

TEST(StartBackoff, APauseStaysFiniteHoweverOftenItWasDoubled) {
  StartBackoff backoff;
  for (int times = 0; times < 100; ++times) backoff.Refused("full", 0, kPauses);
  EXPECT_EQ(backoff.not_before, kPauses.longest);
}

TEST(StartBackoff, WorkersThatAreLostTogetherAreOneFailure) {
  StartBackoff backoff;
  backoff.Failed(0, 100, kPauses);
  backoff.Failed(0, 100.1, kPauses);
  EXPECT_EQ(backoff.failures, 1);
  backoff.Failed(0, 101, kPauses);
  EXPECT_EQ(backoff.failures, 2);
}

TEST(StartBackoff, AStepForwardForgivesFailuresAndTheSameStepDoesNot) {
  StartBackoff backoff;
  backoff.Failed(7, 100, kPauses);
  backoff.Progressed(7);
  EXPECT_EQ(backoff.failures, 1);
  backoff.Progressed(8);
  EXPECT_EQ(backoff.failures, 0);
}

TEST(StartBackoff, AFailureAfterProgressIsTheFirstAgain) {
  StartBackoff backoff;
  for (const Seconds now : {100, 200, 300}) backoff.Failed(0, now, kPauses);
  backoff.Failed(1, 400, kPauses);
  EXPECT_EQ(backoff.failures, 1);
  EXPECT_EQ(backoff.not_before, 400.5);
}

TEST(StartBackoff, AWorkerThatDoesNotJoinIsAFailureOfItsOwnKind) {
  StartBackoff backoff;
  backoff.WasLate(0, 100, kPauses);
  EXPECT_EQ(backoff.late_tries, 1);
  EXPECT_EQ(backoff.failures, 1);
  backoff.Failed(0, 200, kPauses);
  EXPECT_EQ(backoff.late_tries, 0);
}

TEST(StartBackoff, WhereTheOthersGoOnItStaysLateAndIsNoFailureForLong) {
  StartBackoff backoff;
  for (int times = 1; times <= 7; ++times) {
    backoff.WasLate(10 * times, 120 * times, kPauses);
    backoff.WasLate(10 * times, 120 * times + 0.1, kPauses);  // together with it
    EXPECT_EQ(backoff.failures, 1);
    EXPECT_EQ(backoff.late_tries, times);
  }
  backoff.Progressed(80);
  EXPECT_EQ(backoff.failures, 0);
  EXPECT_EQ(backoff.late_tries, 7);
  backoff.AllJoined();
  EXPECT_EQ(backoff.late_tries, 0);
}

TEST(StartBackoff, RefusalsAreNoFailuresAndEndWithAnAcceptedStart) {
  StartBackoff backoff;
  backoff.Refused("quota", 100, kPauses);
  backoff.Refused("quota of team a", 101, kPauses);
  EXPECT_EQ(backoff.failures, 0);
  EXPECT_EQ(backoff.refusal, "quota of team a");
  EXPECT_EQ(backoff.refused_since, 100);
  EXPECT_EQ(backoff.not_before, 102);
  backoff.Accepted();
  EXPECT_EQ(backoff.refusal, "");
  backoff.Refused("quota", 200, kPauses);
  EXPECT_EQ(backoff.refused_since, 200);
  EXPECT_EQ(backoff.not_before, 200.5);
}

}  // namespace
}  // namespace allot
