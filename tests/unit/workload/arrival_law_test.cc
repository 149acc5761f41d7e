// Workloads made by a law: what the law says holds, and nothing else changes the numbers.

#include "workload/arrival_law.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/error.h"
#include "tests/unit/core/expect_error.h"

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

TEST(ArrivalLaw, HasAnyRateThatWasAskedFor) {
  for (const double rate : {50.0, 200.0, 3600.0, 1e5, 1e8}) {
    const Workload workload = Generate(Law("blox"), rate, 1, {20000, 0});
    EXPECT_NEAR(20000 / (workload.Span() / 3600) / rate, 1, 0.03) << rate;
  }
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

Workload Gavel(const std::string& params, int jobs) {
  return Generate(LawFrom("gavel" + params), 4, 1, {jobs, 0});
}

TEST(GavelLaw, WithoutParametersHasJobsOfSeveralGpusAndNoProfiles) {
  const Workload workload = Gavel("", 4000);
  const auto wide = std::count_if(workload.jobs.begin(), workload.jobs.end(),
                                  [](const Job& job) { return job.gpus > 1; });
  EXPECT_NEAR(static_cast<double>(wide) / 4000, 0.3, 0.03);
  for (const Job& job : workload.jobs) {
    EXPECT_EQ(job.model, -1);
    EXPECT_EQ(job.duration_type, -1);
    EXPECT_EQ(job.priority, 0);
  }
}

TEST(GavelLaw, ParametersChangeOnlyWhatTheyName) {
  const Workload all = Gavel("", 300);
  const Workload single = Gavel(":multi=false,types=true,urgent=0.2,deadlines=true", 300);
  for (std::size_t i = 0; i < all.jobs.size(); ++i) {
    EXPECT_EQ(single.jobs[i].gpus, 1);
    EXPECT_EQ(single.jobs[i].submit, all.jobs[i].submit);
    EXPECT_EQ(single.jobs[i].duration, all.jobs[i].duration);
  }
}

TEST(GavelLaw, JobsOfSeveralGpusAreOfTypesThatMay) {
  const Workload workload = Gavel(":types=true", 2000);
  EXPECT_EQ(workload.models.size(), 26);
  for (const Job& job : workload.jobs) {
    EXPECT_EQ(workload.gpu_types[job.duration_type], "v100");
    if (job.gpus == 1) continue;
    const std::string& name = workload.models[job.model];
    for (const char* alone : {"A3C", "CycleGAN", "Recommendation"}) {
      EXPECT_FALSE(name.starts_with(alone)) << job.gpus << " GPUs for " << name;
    }
  }
}

TEST(GavelLaw, UrgentIsAShareOfTheJobs) {
  const Workload workload = Gavel(":urgent=0.2", 5000);
  const auto urgent = std::count_if(workload.jobs.begin(), workload.jobs.end(),
                                    [](const Job& job) { return job.priority == 5; });
  EXPECT_NEAR(static_cast<double>(urgent) / 5000, 0.2, 0.02);
}

TEST(GavelLaw, TenantsAreEquallyLikely) {
  const Workload workload = Gavel(":tenants=3", 3000);
  std::map<std::string, int> jobs;
  for (const Job& job : workload.jobs) ++jobs[workload.tenants[job.tenant]];
  ASSERT_EQ(jobs.size(), 3U);
  for (const char* tenant : {"t1", "t2", "t3"}) EXPECT_NEAR(jobs[tenant], 1000, 100) << tenant;
}

TEST(GavelLaw, TogetherIsAllAtTimeZeroAndNoMore) {
  const Workload workload = Generate(LawFrom("gavel:together=true"), 1, 1, {64, 3600});
  EXPECT_EQ(workload.jobs.size(), 64U);
  EXPECT_EQ(workload.jobs.back().submit, 0);
}

TEST(GavelLaw, PresentJobsAskForSoManyGpus) {
  const Workload workload = Gavel(":present=100", 300);
  GpuCount asked = 0;
  GpuCount last = 0;
  for (const Job& job : workload.jobs) {
    if (job.submit > 0) break;
    asked += last = job.gpus;
  }
  EXPECT_GE(asked, 100);
  EXPECT_LT(asked - last, 100) << "one job less is too few";
  EXPECT_GT(workload.jobs.back().submit, 0);
}

TEST(GavelLaw, OneRunTimeForAll) {
  for (const Job& job : Gavel(":duration=7200", 50).jobs) EXPECT_NEAR(job.duration, 7200, 1e-6);
}

TEST(ArrivalLaw, RefusesAnUnknownParameterByName) {
  ExpectError(ExitCode::kUsage, {"multi"}, [&] { LawFrom("gavel:mutli=false"); });
}

}  // namespace
}  // namespace allot
