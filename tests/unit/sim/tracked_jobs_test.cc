// A steady-state window: the run ends with the last tracked job, and only tracked jobs end it.

#include <gtest/gtest.h>

#include "small_world.h"
#include "tests/unit/core/expect_error.h"

namespace allot::testing_support {
namespace {

// One GPU, decisions every 100 s, in order of submission: job0 runs 0-250, job1 300-400, job2
// 400-500, job3 from 500.
Scenario FourInARow() {
  SimOptions options;
  options.interval = 100;
  options.restart_cost = 0;
  return ScenarioOf({{0, 1, 250}, {10, 1, 100}, {20, 1, 100}, {30, 1, 1000}}, "1x1", options);
}

RunOutcome Windowed(const Scenario& scenario, JobIndex first, JobIndex last) {
  const auto policy = Fifo();
  RunOptions options;
  options.tracked = TrackedJobs{first, last};
  return RunPolicy(scenario, *policy, {}, {}, options);
}

TEST(TrackedJobs, EndTheRunWhenTheLastOfThemHasEnded) {
  const Scenario scenario = FourInARow();
  const RunOutcome outcome = Windowed(scenario, 1, 2);
  EXPECT_EQ(outcome.records[1].finish, 400);
  EXPECT_EQ(outcome.records[2].finish, 500);
  EXPECT_EQ(outcome.records[3].first_start, kNever) << "job3 starts at 500, when the run has ended";
}

TEST(TrackedJobs, CompeteWithTheOthersAsInAWholeRun) {
  const Scenario scenario = FourInARow();
  const auto policy = Fifo();
  const RunOutcome whole = RunPolicy(scenario, *policy);
  const RunOutcome window = Windowed(scenario, 1, 2);
  for (std::size_t job = 0; job <= 2; ++job) {
    EXPECT_EQ(window.records[job].finish, whole.records[job].finish) << "job " << job;
  }
}

TEST(TrackedJobs, OfAllJobsAreAWholeRun) {
  const Scenario scenario = FourInARow();
  EXPECT_EQ(Windowed(scenario, 0, 3).records[3].finish, 1500);
}

TEST(TrackedJobs, MustExist) {
  const Scenario scenario = FourInARow();
  EXPECT_EQ(ErrorOf(ExitCode::kUsage, [&] { Windowed(scenario, 1, 4); }),
            "tracked jobs must be 0 <= first <= last < 4 (jobs of the workload), got 1..4");
}

}  // namespace
}  // namespace allot::testing_support
