#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cluster/free_map.h"
#include "core/rng.h"
#include "sched/incremental.h"
#include "sim/scenario.h"
#include "sim/simulated_cluster.h"
#include "stages/staged_policy.h"
#include "tests/unit/sim/random_run.h"

namespace allot {
namespace {

using testing_support::AnyAllocation;
using testing_support::AnyScenario;

void ExpectFreeIsWhatSharesLeave(const Observation& o) {
  ASSERT_TRUE(o.free.has_value());
  FreeMap expected(*o.cluster);
  for (const NodeShare& share : o.shares) {
    ASSERT_TRUE(expected.TakeExactly(share.node, share.gpus));
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
      {.ordering = "submit", .sizing = "requested", .placement = "tree"}};
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
    RunningUnder running;
    do {
      Observation copy = cluster.Observe();
      copy.free.reset();
      with->Decide(cluster.Observe(), &allocation);
      without->Decide(copy, &expected);
      ASSERT_EQ(allocation, expected) << stages.placement << " at " << copy.now << " s";
      ASSERT_EQ(HoldsUntil(*with, copy, running.Of(copy, allocation)),
                HoldsUntil(*without, copy, running.Of(copy, expected)));
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
