#include "agents/training/logged_workload.h"

#include <gtest/gtest.h>

#include "sim/run.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/training/small_world.h"

namespace allot {
namespace {

struct Logged {
  DecisionLog decisions;
  std::vector<Seconds> finish;
};

Logged Log(const Scenario& scenario, const std::string& policy) {
  Logged logged;
  DecisionCollector collector(&logged.decisions);
  DecisionListener* const listeners[] = {&collector};
  for (const JobRecord& record : RunPolicy(scenario, *MakePolicy(policy), listeners).records) {
    logged.finish.push_back(record.finish);
  }
  return logged;
}

TEST(MeasuredWorkload, FindsTheRunTimesOfWhatWasLogged) {
  const auto scenario = SmallScenario(3, 40);
  const std::vector<Job>& jobs = scenario->workload().jobs;
  for (const std::string policy : {"fifo", "las", "index"}) {
    const Logged logged = Log(*scenario, policy);
    const MeasuredWorkload measured =
        MeasureWorkload(*scenario, logged.decisions, logged.finish, "log");
    EXPECT_EQ(measured.unfinished, 0U);
    ASSERT_EQ(measured.workload.jobs.size(), jobs.size());
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      EXPECT_EQ(measured.workload.jobs[j].submit, jobs[j].submit);
      EXPECT_NEAR(measured.workload.jobs[j].duration, jobs[j].duration, 1e-6 * jobs[j].duration)
          << policy << ", job " << j;
    }
  }
}

// All jobs run at half the rate that their tables say: they are twice as long by these.
TEST(MeasuredWorkload, MeasuredRatesCount) {
  const auto believed = SmallScenario(3, 40);
  SimOptions options = believed->options();
  options.speedup = 0.5;
  const Scenario slow(believed->workload(), believed->cluster(), options);
  const Logged logged = Log(slow, "fifo");
  const MeasuredWorkload measured = MeasureWorkload(slow, logged.decisions, logged.finish, "log");
  for (std::size_t j = 0; j < measured.workload.jobs.size(); ++j) {
    const Seconds duration = believed->workload().jobs[j].duration;
    EXPECT_NEAR(measured.workload.jobs[j].duration, 2 * duration, 1e-6 * duration) << j;
  }
}

TEST(MeasuredWorkload, JobsThatHadNotEndedAreLeftOut) {
  const auto scenario = SmallScenario(3, 40);
  Logged logged = Log(*scenario, "fifo");
  logged.finish[5] = kNever;
  logged.finish[7] = kUnknown;
  const MeasuredWorkload measured =
      MeasureWorkload(*scenario, logged.decisions, logged.finish, "log");
  EXPECT_EQ(measured.unfinished, 2U);
  EXPECT_EQ(measured.workload.jobs.size(), 38U);
}

TEST(MeasuredWorkload, WithoutAnyEndItIsRefused) {
  const auto scenario = SmallScenario(3);
  Logged logged = Log(*scenario, "fifo");
  std::fill(logged.finish.begin(), logged.finish.end(), kNever);
  ExpectError(ExitCode::kBadData, {"log", "result/finish", "24"},
              [&] { MeasureWorkload(*scenario, logged.decisions, logged.finish, "log"); });
}

TEST(MeasuredWorkload, AJobThatNeverRanButEndedIsNamed) {
  const auto scenario = SmallScenario(3);
  Logged logged = Log(*scenario, "fifo");
  for (Allocation& allocation : logged.decisions.allocations) allocation.Clear();
  ExpectError(ExitCode::kBadData, {"log", "'job-0'", "allocation/job"},
              [&] { MeasureWorkload(*scenario, logged.decisions, logged.finish, "log"); });
}

}  // namespace
}  // namespace allot
