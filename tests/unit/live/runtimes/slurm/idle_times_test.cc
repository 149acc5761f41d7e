#include "live/runtimes/slurm/idle_times.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

using Minutes = std::map<std::string, std::uint32_t>;

// What is due, and that Slurm took it.
Minutes Raise(IdleTimes& times, const std::map<std::string, bool>& idle, Seconds now) {
  Minutes due = times.Due(idle, now);
  for (const auto& [job, minutes] : due) times.Raised(job, minutes);
  return due;
}

TEST(IdleTimes, TimeWithoutGpusIsGivenBackAMinuteAhead) {
  IdleTimes times;
  EXPECT_EQ(Raise(times, {{"a", true}}, 0), Minutes{});
  EXPECT_EQ(Raise(times, {{"a", true}}, 5), Minutes{}) << "its workers begin";
  EXPECT_EQ(Raise(times, {{"a", true}}, 20), (Minutes{{"a", 1}}));
  EXPECT_EQ(Raise(times, {{"a", true}}, 50), Minutes{});
  EXPECT_EQ(Raise(times, {{"a", true}}, 65), (Minutes{{"a", 1}}));
  EXPECT_EQ(Raise(times, {{"a", true}}, 250), (Minutes{{"a", 3}}));
}

TEST(IdleTimes, TimeWithGpusIsTheJobsOwn) {
  IdleTimes times;
  (void)Raise(times, {{"a", false}}, 0);
  EXPECT_EQ(Raise(times, {{"a", false}}, 1000), Minutes{});
  EXPECT_EQ(Raise(times, {{"a", true}}, 1015), (Minutes{{"a", 1}}));
  EXPECT_EQ(Raise(times, {{"a", false}}, 1020), Minutes{});
  EXPECT_EQ(Raise(times, {{"a", true}}, 1040), Minutes{}) << "35 s of the minute that it was given";
  EXPECT_EQ(Raise(times, {{"a", true}}, 1070), (Minutes{{"a", 1}}));
}

TEST(IdleTimes, EachJobHasItsOwnAndANewDaemonGivesNothingForThePast) {
  IdleTimes times;
  EXPECT_EQ(Raise(times, {{"a", true}}, 5000), Minutes{});
  EXPECT_EQ(Raise(times, {{"a", true}, {"b", true}}, 5030), (Minutes{{"a", 1}}));
  EXPECT_EQ(Raise(times, {{"b", true}}, 5050), (Minutes{{"b", 1}}));
}

TEST(IdleTimes, WhatSlurmRefusedIsDueAgain) {
  IdleTimes times;
  (void)times.Due({{"a", true}}, 0);
  EXPECT_EQ(times.Due({{"a", true}}, 20), (Minutes{{"a", 1}}));
  EXPECT_EQ(Raise(times, {{"a", true}}, 25), (Minutes{{"a", 1}}));
  EXPECT_EQ(times.Due({{"a", true}}, 30), Minutes{});
}

}  // namespace
}  // namespace allot
