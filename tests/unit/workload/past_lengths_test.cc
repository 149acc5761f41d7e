#include "workload/past_lengths.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

Job JobOf(Seconds duration, GpuCount gpus = 1, Seconds limit = 0) {
  Job job;
  job.duration = duration;
  job.gpus = gpus;
  job.user_estimate = limit;
  return job;
}

Seconds Drawn(const std::vector<Job>& jobs, const UnfinishedJob& unfinished, std::uint64_t seed) {
  std::vector<Seconds> lengths;
  lengths.reserve(jobs.size());
  for (const Job& job : jobs) lengths.push_back(job.duration);
  DrawLengths(jobs, {unfinished}, seed, &lengths);
  return lengths[unfinished.job];
}

TEST(DrawLengths, TakesALongerOneOfAboutTheSameSize) {
  const std::vector<Job> jobs = {JobOf(100), JobOf(500), JobOf(900, 8), JobOf(1)};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(Drawn(jobs, {.job = 3, .lasted = 200}, seed), 500);
  }
}

TEST(DrawLengths, ATailFollowsTheLongest) {
  const std::vector<Job> jobs = {JobOf(100), JobOf(1)};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_GE(Drawn(jobs, {.job = 1, .lasted = 200}, seed), 200);
  }
}

TEST(DrawLengths, ATimeLimitBoundsThemUntilItIsOutlived) {
  const std::vector<Job> jobs = {JobOf(5000), JobOf(1, 1, 300), JobOf(1, 1, 100)};
  EXPECT_EQ(Drawn(jobs, {.job = 1, .lasted = 200}, 0), 300);
  EXPECT_EQ(Drawn(jobs, {.job = 2, .lasted = 200}, 0), 5000);
}

TEST(DrawLengths, WhatHasNotStartedTakesAnyLengthElseItsLimit) {
  EXPECT_EQ(Drawn({JobOf(700, 8), JobOf(1)}, {.job = 1}, 0), 700) << "others' sizes tell something";
  EXPECT_EQ(Drawn({JobOf(1, 1, 1234)}, {.job = 0}, 0), 1234);
  EXPECT_GT(Drawn({JobOf(1)}, {.job = 0}, 0), 60);
}

}  // namespace
}  // namespace allot
