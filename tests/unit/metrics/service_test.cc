#include "metrics/service.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "metrics/service_table.h"
#include "tests/unit/metrics/evaluation_fixture.h"

namespace allot {
namespace {

// Three jobs on 4 GPUs. 0: 4 GPUs, 100 s, runs at once, alone until 50. 1: 1 GPU, 50 s, comes at 50
// and waits until 100. 2: 2 GPUs, 2 s, comes at 200 and runs at once.
Workload ThreeJobs() {
  Workload workload;
  const auto add = [&](Seconds submit, GpuCount gpus, Seconds duration) {
    Job job;
    job.id = std::to_string(workload.jobs.size());
    job.submit = submit;
    job.gpus = gpus;
    job.duration = duration;
    workload.jobs.push_back(job);
  };
  add(0, 4, 100);
  add(50, 1, 50);
  add(200, 2, 2);
  return workload;
}

std::vector<JobRecord> Records() {
  return {{.job = 0, .submit = 0, .first_start = 0, .finish = 100, .gpu_seconds = 400},
          {.job = 1, .submit = 50, .first_start = 100, .finish = 150, .gpu_seconds = 50},
          {.job = 2, .submit = 200, .first_start = 200, .finish = 202, .gpu_seconds = 4}};
}

ServiceSummary Summarised(const Workload& workload, const std::vector<JobRecord>& records) {
  return SummariseService(workload, 4, records, records);
}

TEST(SummariseService, SlowdownIsBoundedByTenSeconds) {
  // 100 / 100, 100 / 50, 2 / 10 -> 1.
  EXPECT_DOUBLE_EQ(Summarised(ThreeJobs(), Records()).avg_bounded_slowdown, (1.0 + 2 + 1) / 3);
}

TEST(SummariseService, FairnessIsAgainstTheTimeOnAShareOfOnesOwn) {
  // Job 0 sees 1 job for 50 s, 2 for 50 s: N = 1.5, it asks for 4 of 4 GPUs: T = 100 x 1.5.
  // Job 1 sees 2 for 50 s, 1 for 50 s: N = 1.5, 4 / 1.5 GPUs are enough for one: T = 50.
  // Job 2 is alone: T = 2.
  const ServiceSummary s = Summarised(ThreeJobs(), Records());
  EXPECT_DOUBLE_EQ(s.avg_fairness, (100.0 / 150 + 100.0 / 50 + 1) / 3);
  EXPECT_DOUBLE_EQ(s.worst_fairness, 2);
  EXPECT_DOUBLE_EQ(s.unfair_share, 1.0 / 3);
}

TEST(SummariseService, FairnessCanBeAgainstOtherRunTimes) {
  // As above, with 200, 25 and 4 s alone.
  const std::vector<Seconds> alone = {200, 25, 4};
  const std::vector<JobRecord> all = Records();
  const ServiceSummary s = SummariseService(ThreeJobs(), 4, all, all, alone);
  EXPECT_DOUBLE_EQ(s.avg_fairness, (100.0 / 300 + 100.0 / 25 + 0.5) / 3);
}

TEST(SummariseService, FairnessCanBeAgainstPlayedTimes) {
  // The shares are those above: of 4 GPUs among 2, 1.5 and 1 jobs. Job 0 cannot be played.
  const auto alone = [](JobIndex job, double gpus) { return job == 0 ? kUnknown : 100 * gpus; };
  const std::vector<JobRecord> all = Records();
  const std::vector<double> played = FinishTimeFairness(ThreeJobs(), 4, all, all, {}, alone);
  const std::vector<double> otherwise = FinishTimeFairness(ThreeJobs(), 4, all, all);
  EXPECT_EQ(played[0], otherwise[0]);
  EXPECT_DOUBLE_EQ(played[1], 100 / (100 * 4 / 1.5));
  EXPECT_TRUE(SummariseService(ThreeJobs(), 4, all, all, {}, alone).played);
  EXPECT_FALSE(SummariseService(ThreeJobs(), 4, all, all).played);
}

TEST(SummariseService, UncountedJobsCompete) {
  const std::vector<JobRecord> all = Records();
  const ServiceSummary s = SummariseService(ThreeJobs(), 4, all, std::span(all).first(1));
  EXPECT_DOUBLE_EQ(s.avg_fairness, 100.0 / 150);
}

TEST(SummariseService, TheLongestTwentiethIsLeftOutOfTheShortest) {
  Workload workload;
  std::vector<JobRecord> records;
  for (JobIndex i = 0; i < 20; ++i) {
    Job job;
    job.duration = 100 - i;  // the first is the longest
    workload.jobs.push_back(job);
    records.push_back({.job = i, .first_start = 0, .finish = i == 0 ? 1e6 : 10.0});
  }
  EXPECT_DOUBLE_EQ(Summarised(workload, records).avg_jct_short95_s, 10);
}

TEST(SummariseService, ADeadlineIsMissedByEndingLaterOrNever) {
  Workload workload = ThreeJobs();
  workload.jobs[0].deadline = 100;  // met to the second
  workload.jobs[1].deadline = 149;
  workload.jobs[2].deadline = 1000;
  std::vector<JobRecord> records = Records();
  records[2].finish = kNever;
  const ServiceSummary s = Summarised(workload, records);
  EXPECT_EQ(s.deadlines, 3);
  EXPECT_EQ(s.missed_deadlines, 2);
}

TEST(SummariseService, TenantsShareTheGpuTime) {
  Workload workload = ThreeJobs();
  workload.jobs[0].tenant = workload.tenants.Intern("vision");
  workload.jobs[1].tenant = workload.tenants.Intern("speech");
  workload.jobs[2].tenant = workload.tenants.Intern("speech");
  const ServiceSummary s = Summarised(workload, Records());
  ASSERT_EQ(s.tenants.size(), 2U);
  EXPECT_EQ(s.tenants[1].tenant, "speech");
  EXPECT_EQ(s.tenants[1].jobs, 2);
  EXPECT_DOUBLE_EQ(s.tenants[1].gpu_share, 54.0 / 454);
  EXPECT_DOUBLE_EQ(s.tenants[1].avg_jct_s, 51);
}

TEST(SummariseService, PrioritiesAscend) {
  Workload workload = ThreeJobs();
  workload.jobs[0].priority = 5;
  const ServiceSummary s = Summarised(workload, Records());
  ASSERT_EQ(s.priorities.size(), 2U);
  EXPECT_EQ(s.priorities[0].jobs, 2);
  EXPECT_EQ(s.priorities[1], (PriorityService{5, 1, 100}));
}

TEST(SummariseService, WithoutUsersOrDeadlinesNothingIsSaidOfThem) {
  EXPECT_FALSE(Summarised(ThreeJobs(), Records()).by_user());
}

TEST(SummariseService, NoJobHasNoFigures) {
  const ServiceSummary s = Summarised({}, {});
  EXPECT_TRUE(std::isnan(s.avg_fairness));
  EXPECT_TRUE(std::isnan(s.avg_bounded_slowdown));
}

TEST(ServiceJson, ReadsBackWhatWasWritten) {
  Workload workload = ThreeJobs();
  workload.jobs[0].tenant = workload.tenants.Intern("vision");
  workload.jobs[1].priority = 1;
  workload.jobs[2].deadline = 300;
  const ServiceSummary s = Summarised(workload, Records());
  EXPECT_EQ(ServiceFromJson(ToJson(s), "here"), s);
}

TEST(ServiceTable, ShowsWhatTheWorkloadKnows) {
  Workload workload = ThreeJobs();
  workload.jobs[1].tenant = workload.tenants.Intern("speech");
  workload.jobs[1].deadline = 120;
  Evaluation evaluation = testing_support::SmallEvaluation();
  EXPECT_FALSE(ServedByUser(evaluation));
  for (EvaluatedPolicy& policy : evaluation.policies) {
    for (RunSummary& run : policy.runs) run.service = Summarised(workload, Records());
  }
  ASSERT_TRUE(ServedByUser(evaluation));
  const std::string text = ServiceTable(evaluation, CompareToReference(evaluation)).ToText();
  EXPECT_NE(text.find("speech 2.00"), std::string::npos) << text;
  EXPECT_NE(text.find("2 of 2 (100.0 %)"), std::string::npos) << text;
  EXPECT_EQ(text.find("top priority"), std::string::npos) << text;
}

}  // namespace
}  // namespace allot
