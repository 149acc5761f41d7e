#include "perf/load_by_type.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

const std::vector<GpuTypeSpec> kA10AndA100 = {{.name = "a10", .gpus = 80},
                                              {.name = "a100", .gpus = 160}};

// Jobs of one GPU, submitted evenly over 1000 s, of so much GPU time in all.
void AddJobs(const std::string& accepted, double gpu_seconds, Workload* workload) {
  constexpr int kJobs = 11;
  for (int i = 0; i < kJobs; ++i) {
    Job job;
    job.submit = 100.0 * i;
    job.duration = gpu_seconds / kJobs;
    job.gpu_types = workload->gpu_types.Intern(accepted);
    workload->jobs.push_back(job);
  }
}

TEST(LoadByType, CountsTheWholeGpuTimeOfJobsOnTheOnlyTypeThatTheyAccept) {
  Workload workload;
  AddJobs("NVIDIA A10", 120'000, &workload);
  const std::vector<TypeLoad> loads = LoadByType(workload, kA10AndA100);
  ASSERT_EQ(loads.size(), 2U);
  EXPECT_NEAR(loads[0].demand, 1.5, 1e-9);
  EXPECT_EQ(loads[1].demand, 0);
  EXPECT_EQ(MostLoaded(loads), loads.data());
  EXPECT_EQ(LoadsInWords(loads), "a10 1.50, a100 0.00");
}

TEST(LoadByType, SpreadsJobsThatAcceptSeveralTypesEvenly) {
  Workload workload;
  AddJobs("", 120'000, &workload);
  std::vector<TypeLoad> loads = LoadByType(workload, kA10AndA100);
  EXPECT_NEAR(loads[0].demand, 0.5, 1e-6);
  EXPECT_NEAR(loads[1].demand, 0.5, 1e-6);
  EXPECT_EQ(MostLoaded(loads), nullptr);
  AddJobs("a10", 80'000, &workload);  // a10 is full: the others go to a100
  loads = LoadByType(workload, kA10AndA100);
  EXPECT_NEAR(loads[0].demand, 1.0, 1e-6);
  EXPECT_NEAR(loads[1].demand, 0.75, 1e-6);
}

TEST(LoadByType, SaysNothingOfOneTypeOrOneMoment) {
  Workload workload;
  AddJobs("a10", 100, &workload);
  EXPECT_TRUE(LoadByType(workload, {kA10AndA100.front()}).empty());
  workload.jobs.resize(1);
  EXPECT_TRUE(LoadByType(workload, kA10AndA100).empty());
  EXPECT_EQ(MostLoaded({}), nullptr);
}

}  // namespace
}  // namespace allot
