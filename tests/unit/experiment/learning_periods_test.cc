#include "experiment/learn/learning_periods.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace allot {
namespace {

Workload SubmittedAt(const std::vector<Seconds>& times) {
  Workload workload;
  workload.name = "made";
  for (const Seconds time : times) {
    Job job;
    job.submit = time;
    workload.jobs.push_back(job);
  }
  return workload;
}

std::vector<Seconds> Every(Seconds step, int count) {
  std::vector<Seconds> times(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < times.size(); ++k) times[k] = step * static_cast<double>(k);
  return times;
}

TEST(LearningPeriods, SharesAreOfJobsNotOfTime) {
  std::vector<Seconds> times = Every(1, 80);
  times.push_back(1e6);  // a late straggler moves no bound but the last
  const LearningPeriods p = DivideForLearning(SubmittedAt(times), 0, kNever);
  EXPECT_EQ(p.begin, 0);
  EXPECT_EQ(p.tuning, 20);
  EXPECT_EQ(p.validation, 40);
  EXPECT_EQ(p.test, 56);
  EXPECT_EQ(p.end, 1e6 + 1);
}

TEST(LearningPeriods, OnlyJobsOfTheWindowCount) {
  const LearningPeriods p = DivideForLearning(SubmittedAt(Every(1, 300)), 100, 200);
  EXPECT_EQ(p.begin, 100);
  EXPECT_EQ(p.validation, 150);
  EXPECT_EQ(p.end, 200);
}

TEST(LearningPeriods, TooFewJobsAreAllTheTest) {
  const LearningPeriods p = DivideForLearning(SubmittedAt(Every(1, 39)), 0, kNever);
  EXPECT_FALSE(p.divided());
  EXPECT_EQ(p.test, 0);
  EXPECT_EQ(p.end, 39);
  EXPECT_TRUE(DivideForLearning(SubmittedAt(Every(1, 40)), 0, kNever).divided());
}

TEST(LearningPeriods, JobsSubmittedTogetherAreAllTheTest) {
  const Workload together = SubmittedAt(std::vector<Seconds>(50, 7));
  EXPECT_FALSE(DivideForLearning(together, 0, kNever).divided());
}

TEST(LearningPeriods, NoJobIsAnError) {
  try {
    DivideForLearning(SubmittedAt(Every(1, 50)), 100, kNever);
    FAIL() << "a window without jobs was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kBadData);
    EXPECT_STREQ(error.what(), "learning needs jobs, 'made' has none in its window");
  }
}

TEST(WindowBounds, AreConsecutiveAndHoldEqualNumbersOfJobs) {
  const std::vector<Seconds> expected = {0, 10, 20, 30, 40};
  EXPECT_EQ(WindowBounds(SubmittedAt(Every(1, 40)), 0, 40, 4), expected);
}

TEST(WindowBounds, AreFewerWhereJobsComeTogether) {
  std::vector<Seconds> times(30, 5);
  times.insert(times.begin(), 0);
  const std::vector<Seconds> expected = {0, 5, 10};
  EXPECT_EQ(WindowBounds(SubmittedAt(times), 0, 10, 4), expected);
}

}  // namespace
}  // namespace allot
