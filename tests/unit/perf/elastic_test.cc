#include "perf/elastic.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

Workload RigidWorkload(int jobs, int every = 1) {
  Workload workload;
  for (int i = 0; i < jobs; i += every) {
    Job job;
    job.id = "job-" + std::to_string(i);
    job.gpus = 1 << (i % 5);
    job.duration = 60;
    workload.jobs.push_back(job);
  }
  return workload;
}

std::vector<std::string> Profiles(const Workload& workload) {
  std::vector<std::string> profiles;
  for (const Job& job : workload.jobs) profiles.push_back(workload.models[job.model]);
  return profiles;
}

Workload Elastic(Workload workload, const ElasticityOptions& options) {
  MakeElastic(options, Catalogue::Embedded(), &workload);
  return workload;
}

TEST(Elastic, SameSeedSameProfiles) {
  EXPECT_EQ(Profiles(Elastic(RigidWorkload(200), {3})), Profiles(Elastic(RigidWorkload(200), {3})));
}

TEST(Elastic, OtherSeedOtherProfiles) {
  EXPECT_NE(Profiles(Elastic(RigidWorkload(200), {3})), Profiles(Elastic(RigidWorkload(200), {4})));
}

TEST(Elastic, AJobKeepsItsProfileInASubSample) {
  const auto all = Profiles(Elastic(RigidWorkload(200), {3}));
  const auto sampled = Profiles(Elastic(RigidWorkload(200, 7), {3}));
  for (std::size_t i = 0; i < sampled.size(); ++i) EXPECT_EQ(sampled[i], all[7 * i]);
}

TEST(Elastic, EveryProfileIsDrawn) {
  const auto profiles = Profiles(Elastic(RigidWorkload(1000), {3}));
  EXPECT_EQ(std::set<std::string>(profiles.begin(), profiles.end()).size(),
            Catalogue::Embedded().models().size());
}

TEST(Elastic, LimitsGrowFromTheRequestedUpToTheCap) {
  ElasticityOptions options;
  options.growth = 4;
  options.cap = 12;
  const Workload workload = Elastic(RigidWorkload(5), options);  // 1, 2, 4, 8, 16 GPUs
  const std::vector<GpuCount> highest{4, 8, 12, 12, 16};
  for (std::size_t i = 0; i < highest.size(); ++i) {
    EXPECT_EQ(workload.jobs[i].lowest(), 1);
    EXPECT_EQ(workload.jobs[i].highest(), highest[i]) << workload.jobs[i].gpus << " GPUs";
  }
}

TEST(Elastic, WhatTheTraceSaysStays) {
  Workload workload = RigidWorkload(2);
  workload.jobs[0].model = workload.models.Intern("lm:20");
  workload.jobs[0].work = 5;
  workload.jobs[1].min_gpus = 1;
  workload.jobs[1].max_gpus = 3;
  workload = Elastic(std::move(workload), {});
  EXPECT_EQ(workload.models[workload.jobs[0].model], "lm:20");
  EXPECT_EQ(workload.jobs[0].work, 5);
  EXPECT_EQ(workload.jobs[1].highest(), 3);
}

TEST(Elastic, RefusesGrowthBelowOne) {
  ElasticityOptions options;
  options.growth = 0;
  EXPECT_EQ(ErrorOf(ExitCode::kUsage, [&] { Elastic(RigidWorkload(1), options); }),
            "growth and cap of an elastic job must be >= 1, got 0 and 64");
}

}  // namespace
}  // namespace allot
