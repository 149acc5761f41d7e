#include "envs/gang_jobs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "envs/setting.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

constexpr std::array<GangClass, 2> kTwoClasses = {{{1, 0.25, 1, 1}, {16, 0.75, 4, 0.5}}};
constexpr Seconds kMonth = 30 * 86400.0;

TEST(GangJobs, AskForTheTimeThatTheGpusHaveInTheSharesOfTheClasses) {
  const Workload workload = DrawGangs({kTwoClasses, 200, kMonth, 7 * 86400.0}, 3);
  double all = 0;
  double gangs = 0;
  for (const Job& job : workload.jobs) {
    all += job.gpus * job.duration;
    if (job.gpus == 16) gangs += job.gpus * job.duration;
    EXPECT_GE(job.submit, 0);
    EXPECT_LT(job.submit, kMonth);
  }
  EXPECT_NEAR(all / (200 * kMonth), 1, 0.01);
  EXPECT_NEAR(gangs / all, 0.75, 0.03);
  EXPECT_TRUE(std::ranges::is_sorted(workload.jobs, {}, &Job::submit));
}

TEST(GangJobs, SettingsRefuseClustersThatTheyCannotMake) {
  ExpectError(ExitCode::kUsage, {"multiple of 'per-node' (8)", "got 500"},
              [] { MakeSetting("lending:gpus=500"); });
  ExpectError(ExitCode::kUsage, {"'nodes'", "0"}, [] { MakeSetting("failures:nodes=0"); });
  ExpectError(ExitCode::kUsage, {"failure mode", "'warm'"},
              [] { MakeSetting("failures:mode=warm"); });
}

TEST(GangJobs, LoadIsOverWhatServicesLeave) {
  const auto scenario = MakeSetting("lending:load=0.5").episodes(1);
  double asked = 0;
  for (const Job& job : scenario->workload().jobs) asked += job.gpus * job.duration;
  const double left = 512 - scenario->lending_figures()->demand;
  EXPECT_NEAR(asked / (14 * 86400.0 * left), 0.5, 0.02);
}

}  // namespace
}  // namespace allot
