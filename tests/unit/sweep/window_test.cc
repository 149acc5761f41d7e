// Which jobs a window measures: five jobs, submitted at 100, 200, ..., 500 s.

#include "sweep/window.h"

#include <gtest/gtest.h>

#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

Workload FiveJobs() {
  Workload workload;
  workload.name = "five";
  for (int i = 0; i < 5; ++i) {
    Job job;
    job.id = std::to_string(i);
    job.submit = 100 * (i + 1);
    job.duration = 10;
    workload.jobs.push_back(job);
  }
  workload.Finish();
  return workload;
}

std::pair<int, int> Resolve(const std::string& kind, const std::string& text) {
  const auto tracked = ResolveWindow({{kind, text}}, FiveJobs());
  return {tracked->first, tracked->last};
}

std::string FaultOf(const std::string& kind, const std::string& text) {
  return ErrorOf(ExitCode::kUsage, [&] { Resolve(kind, text); });
}

TEST(Window, OfNothingMeasuresEverything) { EXPECT_FALSE(ResolveWindow({}, FiveJobs())); }

TEST(Window, OfJobsHoldsBothEnds) {
  EXPECT_EQ(Resolve("window-jobs", "1..3"), std::make_pair(1, 3));
}

TEST(Window, OfTimeHoldsItsBeginAndNotItsEnd) {
  EXPECT_EQ(Resolve("window-time", "200..400"), std::make_pair(1, 2));
}

TEST(Window, WarmUpCountsFromTheFirstJob) {
  EXPECT_EQ(Resolve("warm-up", "200"), std::make_pair(2, 4));
}

TEST(Window, NamesWhatIsWrong) {
  EXPECT_EQ(FaultOf("window-jobs", "3..5"),
            "--window-jobs 3..5 needs at least 6 jobs, workload 'five' has 5");
  EXPECT_EQ(FaultOf("window-jobs", "3-4"), "--window-jobs must be FIRST..LAST, got '3-4'");
  EXPECT_EQ(FaultOf("window-time", "210..290"),
            "--window-time 210..290 must hold at least 1 job, got none of the 5 of workload "
            "'five'");
}

}  // namespace
}  // namespace allot
