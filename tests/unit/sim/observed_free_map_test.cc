#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cluster/free_map.h"
#include "core/rng.h"
#include "sim/scenario.h"
#include "sim/simulated_cluster.h"
#include "stages/staged_policy.h"

namespace allot {
namespace {

Scenario AnyScenario(std::uint64_t seed) {
  Rng rng(seed, "observed-free-map");
  Workload workload;
  workload.name = "any";
  for (int i = 0; i < 60; ++i) {
    Job job;
    job.id = std::to_string(i);
    job.submit = static_cast<double>(rng.Below(20000));
    job.duration = 100 + static_cast<double>(rng.Below(5000));
    job.gpus = 1 + static_cast<GpuCount>(rng.Below(4));
    workload.jobs.push_back(job);
  }
  workload.Finish();
  SimOptions options;
  options.failures = {.mean_between = 20000, .mean_repair = 2000};
  options.seed = seed;
  return Scenario(std::move(workload), ClusterSpec::Parse("4x4"), options);
}

// Some of the jobs on the first GPUs that are free for them: what runs stays, moves, stops or
// starts.
Allocation AnyAllocation(const Observation& o, Rng* rng) {
  FreeMap free(*o.cluster);
  Allocation allocation;
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    const auto r = static_cast<std::size_t>(row);
    if (rng->Below(5) == 0) continue;
    const GpuCount gpus = (*o.table[r])[o.requested[r]].demand.gpus;
    for (NodeIndex node = 0; node < static_cast<NodeIndex>(o.cluster->nodes().size()); ++node) {
      if (free.free_gpus(node) < gpus || rng->Below(8) == 0) continue;
      NodeShare share;
      share.node = node;
      share.units = {static_cast<std::int16_t>(gpus), 0};
      share.gpus = free.Take(node, {gpus, 0});
      allocation.Add(o.job[r], o.requested[r], std::span(&share, 1));
      break;
    }
  }
  return allocation;
}

void ExpectFreeIsWhatSharesLeave(const Observation& o) {
  ASSERT_TRUE(o.free.has_value());
  FreeMap expected(*o.cluster);
  for (const NodeShare& share : o.shares) {
    ASSERT_TRUE(expected.TakeExactly(share.node, share.gpus, 0));
  }
  for (NodeIndex node = 0; node < static_cast<NodeIndex>(o.cluster->nodes().size()); ++node) {
    ASSERT_EQ(o.free->gpu_mask(node), expected.gpu_mask(node)) << "node " << node;
  }
  ASSERT_EQ(o.free->total_free(0).gpus, expected.total_free(0).gpus);
}

TEST(ObservedFreeMap, IsWhatTheSharesLeaveOverRandomRuns) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Scenario scenario = AnyScenario(seed);
    SimulatedCluster cluster(scenario);
    Rng rng(seed, "decisions");
    do {
      ExpectFreeIsWhatSharesLeave(cluster.Observe());
      ASSERT_TRUE(cluster.Apply(AnyAllocation(cluster.Observe(), &rng)).refused.ok());
      ExpectFreeIsWhatSharesLeave(cluster.Observe());
    } while (cluster.WaitForChange(kNever) && !testing::Test::HasFatalFailure());
  }
}

// The same policy, asked with the map and without.
TEST(ObservedFreeMap, ChangesNoDecision) {
  const std::vector<StageSpecs> policies = {
      {.ordering = "attained",
       .sizing = "requested:within-capacity=false",
       .placement = "first-fit:victims=true"},
      {.ordering = "remaining", .sizing = "requested", .placement = "packed"},
      {.ordering = "attained", .sizing = "hull", .placement = "spread"},
      {.ordering = "submit", .sizing = "requested", .placement = "defragment"}};
  for (const StageSpecs& stages : policies) {
    const PolicyInfo info = StagedPolicyInfo("any", "", stages);
    const auto with = info.make(Params("any", info.params, {}));
    const auto without = info.make(Params("any", info.params, {}));
    const Scenario scenario = AnyScenario(1);
    SimulatedCluster cluster(scenario);
    with->OnEpisodeStart({});
    without->OnEpisodeStart({});
    Allocation allocation;
    Allocation expected;
    do {
      Observation copy = cluster.Observe();
      copy.free.reset();
      with->Decide(cluster.Observe(), &allocation);
      without->Decide(copy, &expected);
      ASSERT_EQ(allocation, expected) << stages.placement << " at " << copy.now << " s";
      ASSERT_EQ(allocation.holds_until(), expected.holds_until());
      ASSERT_TRUE(cluster.Apply(allocation).refused.ok());
    } while (cluster.WaitForChange(kNever));
  }
}

TEST(ObservedFreeMap, ACopyStaysAsItWas) {
  const Scenario scenario = AnyScenario(0);
  SimulatedCluster cluster(scenario);
  const Observation frozen = cluster.Observe();
  Rng rng(0, "decisions");
  bool changed = false;
  do {
    ASSERT_TRUE(cluster.Apply(AnyAllocation(cluster.Observe(), &rng)).refused.ok());
    changed = cluster.Observe().free->total_free(0).gpus != frozen.free->total_free(0).gpus;
  } while (!changed && cluster.WaitForChange(kNever));
  ASSERT_TRUE(changed);
  ExpectFreeIsWhatSharesLeave(frozen);
}

}  // namespace
}  // namespace allot
