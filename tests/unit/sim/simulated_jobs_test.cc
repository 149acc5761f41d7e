#include "sim/simulated_jobs.h"

#include <gtest/gtest.h>

#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

TEST(SimulatedJobs, RowsAndSlotsMoveUpPastThoseThatEnd) {
  const Scenario scenario =
      testing_support::ScenarioOf({{0, 1, 10}, {0, 1, 20}, {0, 1, 30}, {0, 1, 40}}, "1x4");
  Observation start;
  start.share_begin.assign(1, 0);
  for (JobIndex job = 0; job < 4; ++job) {
    const NodeShare share{0, {1}, std::uint64_t{1} << job};
    const bool runs = job != 1;
    start.Append({.job = job, .table = scenario.facts(job).table.get(), .running = runs ? 0 : -1},
                 runs ? std::span(&share, 1) : std::span<const NodeShare>());
  }
  SimulatedJobs jobs(scenario, start);
  EXPECT_TRUE(jobs.all_arrived());
  for (const std::int32_t row : {0, 2, 3}) {
    jobs.Run(row, {.work = 10.0 * row, .finish = 10.0 * row, .gpus = 1});
  }
  jobs.FindFirstFinish();
  EXPECT_EQ(jobs.first_finish, 0);
  EXPECT_EQ(jobs.gpus_used, 3);

  const std::vector<std::size_t> slots = {0, 1};
  jobs.Erase({0, 2}, slots);
  EXPECT_EQ(jobs.observation.job, (std::vector<JobIndex>{1, 3}));
  EXPECT_EQ(jobs.row_of_job, (std::vector<std::int32_t>{-1, 0, -1, 1}));
  EXPECT_EQ(jobs.running_rows, std::vector<std::int32_t>{1});
  EXPECT_EQ(jobs.running.front().work, 30);
  ASSERT_EQ(jobs.observation.shares_of(1).size(), 1);
  EXPECT_EQ(jobs.observation.shares_of(1)[0].gpus, 8);
  EXPECT_TRUE(jobs.observation.shares_of(0).empty());
}

}  // namespace
}  // namespace allot
