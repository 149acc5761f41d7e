#include "solve/queue_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/index.h"
#include "core/rng.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

// The least cost by trying every assignment of jobs to machines; on a machine the shortest first.
double LeastCost(const std::vector<std::int32_t>& machine_type, std::size_t types,
                 const std::vector<double>& seconds) {
  const std::size_t jobs = seconds.size() / types;
  std::vector<std::size_t> on(jobs, 0);
  double least = std::numeric_limits<double>::infinity();
  for (;;) {
    double cost = 0;
    for (std::size_t m = 0; m < machine_type.size(); ++m) {
      std::vector<double> queue;
      for (std::size_t i = 0; i < jobs; ++i) {
        if (on[i] == m) queue.push_back(seconds[i * types + At(machine_type[m])]);
      }
      std::sort(queue.begin(), queue.end(), std::greater<>());
      for (std::size_t k = 0; k < queue.size(); ++k) cost += static_cast<double>(k + 1) * queue[k];
    }
    least = std::min(least, cost);
    std::size_t i = 0;
    while (i < jobs && ++on[i] == machine_type.size()) on[i++] = 0;
    if (i == jobs) return least;
  }
}

TEST(QueuePlanTest, IsTheLeastOfAllAssignments) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed, "queues");
    const std::vector<std::int32_t> machines = {static_cast<std::int32_t>(1 + rng.Below(2)),
                                                static_cast<std::int32_t>(rng.Below(3))};
    std::vector<std::int32_t> machine_type;
    for (std::int32_t g = 0; g < 2; ++g) {
      machine_type.insert(machine_type.end(), At(machines[At(g)]), g);
    }
    std::vector<double> seconds(12);
    for (double& s : seconds) s = std::ceil(rng.Uniform(0, seed % 2 == 1 ? 3 : 1e6));
    const QueuePlan plan = PlanQueues(machines, seconds);
    const double least = LeastCost(machine_type, 2, seconds);
    EXPECT_NEAR(plan.cost, least, 1e-9 * least);
    std::vector<std::int32_t> begin(2, 0);
    for (const std::int32_t job : plan.first) ++begin[At(plan.type[At(job)])];
    for (std::size_t g = 0; g < 2; ++g) EXPECT_LE(begin[g], machines[g]);
    EXPECT_EQ(plan.first.size(), std::min<std::size_t>(6, machine_type.size()))
        << "a machine stands idle";
  }
}

TEST(QueuePlanTest, AJobStaysOffTypesOnWhichItDoesNotRun) {
  const double never = std::numeric_limits<double>::infinity();
  const std::vector<std::int32_t> machines = {1, 1};
  const std::vector<double> seconds = {5, never, 7, never};
  const QueuePlan plan = PlanQueues(machines, seconds);
  EXPECT_EQ(plan.type, (std::vector<std::int32_t>{0, 0}));
  EXPECT_EQ(plan.first, (std::vector<std::int32_t>{0}));
  EXPECT_EQ(plan.cost, 2 * 5 + 7);
}

TEST(QueuePlanTest, GangsTakeSeveralMachinesOfOneType) {
  const std::vector<std::int32_t> machines = {2, 4};
  const std::vector<double> seconds = {10, 10, 1, 2, 3, 3, 8, 9};
  const std::vector<std::int32_t> takes = {4, 2, 1, 8};
  const QueuePlan plan = PlanGangs(machines, seconds, takes);
  EXPECT_EQ(plan.type, (std::vector<std::int32_t>{1, 0, 1, -1}));
  EXPECT_EQ(plan.first, (std::vector<std::int32_t>{1, 2}));
}

TEST(QueuePlanTest, RefusesWhatHasNoPlan) {
  const std::vector<double> seconds = {1, 2};
  ExpectError(ExitCode::kBadData, {"free machine", "none of 2"}, [&] {
    PlanQueues(std::vector<std::int32_t>{0, 0}, seconds);
  });
  ExpectError(ExitCode::kBadData, {"> 0", "got -1", "job 0, type 1"}, [&] {
    PlanQueues(std::vector<std::int32_t>{1, 1}, std::vector<double>{1, -1});
  });
}

}  // namespace
}  // namespace allot
