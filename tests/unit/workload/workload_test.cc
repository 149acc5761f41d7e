#include "workload/workload.h"

#include <algorithm>

#include "trace_testing.h"
#include "workload/job_rules.h"

namespace allot {
namespace {

Job MakeJob(const std::string& id, Seconds submit) {
  Job job;
  job.id = id;
  job.submit = submit;
  job.duration = 100;
  return job;
}

TEST(Workload, FinishSortsBySubmitAndKeepsTheOrderOfEquals) {
  Workload workload;
  workload.jobs = {MakeJob("c", 5), MakeJob("a", 1), MakeJob("d", 5), MakeJob("b", 1)};
  workload.Finish();
  std::string order;
  for (const Job& job : workload.jobs) order += job.id;
  EXPECT_EQ(order, "abcd");
}

TEST(Workload, FinishSortsManyAsAStableSortDoes) {
  Workload workload;
  for (int i = 0; i < 1000; ++i) {
    workload.jobs.push_back(MakeJob(fmt::format("{}", i), i * 7919 % 100));
  }
  std::vector<Job> expected = workload.jobs;
  std::stable_sort(expected.begin(), expected.end(),
                   [](const Job& a, const Job& b) { return a.submit < b.submit; });
  workload.Finish();
  for (std::size_t j = 0; j < expected.size(); ++j) {
    EXPECT_EQ(workload.jobs[j].id, expected[j].id);
    EXPECT_EQ(workload.jobs[j].submit, expected[j].submit);
  }
}

TEST(Workload, FinishNamesBothJobsOfOneId) {
  Workload workload;
  workload.name = "w";
  workload.jobs = {MakeJob("a", 1), MakeJob("b", 2), MakeJob("a", 3)};
  ExpectError(ExitCode::kBadData, {"unique", "'a' as jobs 1 and 3", "'w'"},
              [&] { workload.Finish(); });
}

TEST(Workload, FinishNamesTheJobThatBreaksARule) {
  Workload workload;
  workload.jobs = {MakeJob("a", 1), MakeJob("b", -2)};
  ExpectError(ExitCode::kBadData, {"submit time must be", "got -2", "job 'b', number 2"},
              [&] { workload.Finish(); });
}

TEST(Workload, SumsAndSpan) {
  Workload workload;
  workload.jobs = {MakeJob("a", 10), MakeJob("b", 40)};
  workload.jobs[1].gpus = 3;
  workload.Finish();
  EXPECT_EQ(workload.Span(), 30);
  EXPECT_EQ(workload.GpuSeconds(), 400);
  EXPECT_EQ(Workload().Span(), 0);
}

TEST(NameTable, InternsOnceAndKeepsEmptyApart) {
  NameTable names;
  EXPECT_EQ(names.Intern("x"), 0);
  EXPECT_EQ(names.Intern("y"), 1);
  EXPECT_EQ(names.Intern("x"), 0);
  EXPECT_EQ(names.Intern(""), -1);
  EXPECT_EQ(names[-1], "");
  EXPECT_EQ(names[1], "y");
  EXPECT_EQ(names.Find("z"), -1);
  EXPECT_EQ(names.size(), 2u);
}

TEST(JobRules, EachRuleCatchesItsField) {
  struct Case {
    std::string rule;
    std::function<void(Job*)> spoil;
  };
  const double nan = kUnknown;
  const std::vector<Case> cases = {
      {"id", [](Job* job) { job->id = ""; }},
      {"submit", [](Job* job) { job->submit = -1; }},
      {"submit", [=](Job* job) { job->submit = nan; }},
      {"submit", [](Job* job) { job->submit = kNever; }},
      {"gpus", [](Job* job) { job->gpus = 0; }},
      {"gpus", [](Job* job) { job->gpus = kMostGpus + 1; }},
      {"duration", [](Job* job) { job->duration = 0; }},
      {"duration", [=](Job* job) { job->duration = nan; }},
      {"duration", [](Job* job) { job->duration = kNever; }},
      {"min_gpus", [](Job* job) { job->min_gpus = 2; }},
      {"max_gpus", [](Job* job) { job->gpus = 2, job->max_gpus = 1; }},
      {"work", [](Job* job) { job->work = -1; }},
      {"work", [=](Job* job) { job->work = nan; }},
      {"priority", [=](Job* job) { job->priority = nan; }},
      {"deadline", [](Job* job) { job->deadline = job->submit; }},
      {"deadline", [=](Job* job) { job->deadline = nan; }},
  };
  EXPECT_FALSE(FindBrokenRule(MakeJob("a", 1)));
  for (const Case& c : cases) {
    Job job = MakeJob("a", 1);
    c.spoil(&job);
    const auto broken = FindBrokenRule(job);
    ASSERT_TRUE(broken) << c.rule;
    EXPECT_NE(broken->rule.find(c.rule), std::string::npos) << broken->rule;
    EXPECT_FALSE(broken->got.empty()) << c.rule;
  }
}

}  // namespace
}  // namespace allot
