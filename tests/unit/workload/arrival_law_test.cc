// Workloads made by a law: what the law says holds, and nothing else changes the numbers.

#include "workload/arrival_law.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace allot {
namespace {

const WorkloadLaw& Law(std::string_view id) {
  return Registry<WorkloadLaw>::Global().Get("law", id);
}

double MeanDuration(const Workload& workload) {
  return workload.GpuSeconds() / static_cast<double>(workload.jobs.size());
}

TEST(ArrivalLaw, HasTheRateThatWasAskedFor) {
  const Workload workload = Generate(Law("blox"), 6, 1, {20000, 0});
  const double per_hour = 20000 / (workload.jobs.back().submit / 3600);
  // Gaps of 600 s on average, rounded up to whole seconds.
  EXPECT_NEAR(per_hour, 3600 / 600.5, 0.15);
}

TEST(ArrivalLaw, ArrivesAtWholeSeconds) {
  for (const Job& job : Generate(Law("blox"), 9, 1, {500, 0}).jobs) {
    ASSERT_EQ(job.submit, std::floor(job.submit)) << "job " << job.id;
  }
}

// E[60 x 10^U(a, b)] = 60 (10^b - 10^a) / ((b - a) ln 10).
TEST(ArrivalLaw, OfBloxHasItsMeanDuration) {
  const double shorter = 60 * (std::pow(10, 3) - std::pow(10, 1.5)) / (1.5 * std::log(10));
  const double longer = 60 * (1e4 - 1e3) / std::log(10);
  const double mean = 0.8 * shorter + 0.2 * longer;
  EXPECT_NEAR(MeanDuration(Generate(Law("blox"), 5, 3, {40000, 0})) / mean, 1, 0.03);
}

TEST(ArrivalLaw, GivesJobsTheSameDurationsAtEveryRate) {
  const Workload slow = Generate(Law("blox"), 1, 7, {100, 0});
  const Workload fast = Generate(Law("blox"), 8, 7, {100, 0});
  for (std::size_t i = 0; i < 100; ++i) {
    ASSERT_EQ(slow.jobs[i].duration, fast.jobs[i].duration) << "job " << i;
  }
}

TEST(ArrivalLaw, DiffersBySeed) {
  EXPECT_NE(Generate(Law("blox"), 1, 0, {2, 0}).jobs[1].submit,
            Generate(Law("blox"), 1, 1, {2, 0}).jobs[1].submit);
}

TEST(ArrivalLaw, TailAddsArrivalsAndChangesNoneBefore) {
  const Workload bare = Generate(Law("blox"), 4, 2, {50, 0});
  const Workload tailed = Generate(Law("blox"), 4, 2, {50, 36000});
  ASSERT_GT(tailed.jobs.size(), bare.jobs.size());
  for (std::size_t i = 0; i < 50; ++i) ASSERT_EQ(tailed.jobs[i].submit, bare.jobs[i].submit);
  EXPECT_LE(tailed.jobs.back().submit, bare.jobs.back().submit + 36000);
}

// Open 4-6 h and 8-12 h of every twelve hours.
TEST(ArrivalLaw, OfDualLoadIsOpenFromMultiplesOfFourHoursToMultiplesOfSix) {
  int short_jobs = 0;
  for (const Job& job : Generate(Law("blox-dual"), 5, 1, {4000, 0}).jobs) {
    if (job.duration >= 3600) continue;
    ++short_jobs;
    const double hour = std::fmod(job.submit / 3600, 12);
    ASSERT_TRUE((hour >= 4 && hour < 6) || (hour >= 8 && hour < 12))
        << "job " << job.id << " arrives at hour " << hour;
  }
  EXPECT_GT(short_jobs, 1000);
}

TEST(ArrivalLaw, OfBurstsSubmitsBatchesOfFourTimesTheRate) {
  std::map<double, int> batches;
  for (const Job& job : Generate(Law("blox-bursts"), 2.3, 1, {2000, 0}).jobs) {
    if (job.duration < 3600) ++batches[job.submit];
  }
  ASSERT_GT(batches.size(), 10U);
  batches.erase(std::prev(batches.end()));  // may be cut by the number of jobs
  for (const auto& [submit, size] : batches) {
    ASSERT_EQ(std::fmod(submit, 14400), 0);
    ASSERT_EQ(size, 9) << "the whole part of 4 x 2.3, at " << submit;
  }
}

TEST(ArrivalLaw, RefusesARateOfZero) { EXPECT_THROW(Generate(Law("blox"), 0, 0, {10, 0}), Error); }

}  // namespace
}  // namespace allot
