// What must hold for every registered reward.

#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"
#include "envs/rewards/reward.h"
#include "sched/policy.h"
#include "tests/unit/sched/world.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

using testing_support::ScenarioOf;

class RewardConformanceTest : public testing::TestWithParam<std::string> {};

TEST_P(RewardConformanceTest, IsFiniteAndPureOnRandomSteps) {
  testing_support::World after("2x4");
  const RewardFunction& compute = GetReward(GetParam()).compute;
  Rng rng(1, "reward-conformance");
  for (int i = 0; i < 200; ++i) {
    StepFacts step;
    if (i > 0) {  // the first: nothing happened at all
      step.elapsed = rng.Uniform(0, 1e6);
      step.job_seconds = rng.Uniform(0, 1e9);
      step.gpu_seconds = rng.Uniform(0, 8e6);
      step.progress = rng.Uniform(0, 100);
      step.slowdown_seconds = rng.Uniform(0, 1e6);
      step.arrived = static_cast<std::int32_t>(rng.Below(100));
      step.finished = static_cast<std::int32_t>(rng.Below(100));
    }
    const double reward = compute(step, after.o);
    EXPECT_TRUE(std::isfinite(reward)) << i;
    EXPECT_EQ(reward, compute(step, after.o)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Rewards, RewardConformanceTest,
                         testing::ValuesIn(Registry<RewardInfo>::Global().ids()),
                         [](const auto& test) { return test.param; });

// Sum of a reward over a whole episode, and what the records say.
struct Episode {
  double reward = 0;
  double total_jct = 0;
  double jobs = 0;
};

Episode RunEpisode(const std::string& reward, const std::string& policy_spec) {
  const Scenario scenario = ScenarioOf(
      {{50, 1, 700}, {70, 4, 1000}, {400, 2, 90}, {900, 3, 2000}, {40000, 1, 10}}, "1x4");
  SimulatedCluster cluster(scenario);
  const auto policy = MakePolicy(policy_spec);
  policy->OnEpisodeStart({.seed = 0, .cluster = &scenario.cluster()});
  Episode episode;
  Allocation allocation;
  bool more = true;
  while (more) {
    policy->Decide(cluster.Observe(), &allocation);
    cluster.Apply(allocation);
    more = cluster.WaitForChange(policy->info().time_driven ? 0 : kNever);
    episode.reward += GetReward(reward).compute(cluster.last_step(), cluster.Observe());
  }
  for (const JobRecord& record : cluster.records()) {
    episode.total_jct += record.finish - record.submit;
    episode.jobs += 1;
  }
  return episode;
}

TEST(RewardTest, JctSumsToMinusTheTotalJct) {
  for (const std::string policy : {"fifo", "las"}) {
    const Episode episode = RunEpisode("jct", policy);
    EXPECT_NEAR(episode.reward, -episode.total_jct, 1e-9 * episode.total_jct) << policy;
  }
}

TEST(RewardTest, ProgressSumsToTheNumberOfJobs) {
  const Episode episode = RunEpisode("progress", "las");
  EXPECT_NEAR(episode.reward, episode.jobs, 1e-9);
}

}  // namespace
}  // namespace allot
