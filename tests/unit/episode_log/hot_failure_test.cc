// A node of a hot job fails on a live cluster, and the journal of that is played in the simulator:
// both come to the same epochs and lose the same steps.

#include <set>

#include "sim/simulated_cluster.h"
#include "tests/unit/live/live_cluster_fixture.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

struct FailureSeen {
  Seconds after = 0;  // since the job's first start
  std::size_t epochs = 0;
  GpuCount gpus_left = 0;
  double lost = 0;  // of what was done: steps, or work of rate 1

  bool operator==(const FailureSeen&) const = default;
};

class HotFailureTest : public LiveClusterFixture {
 protected:
  // A job on both nodes trains for a while, n2 fails, and it goes on. What the journal tells.
  FailureSeen FailLive() {
    runtime_.AddJob("a", 8, 1, 8);
    ServeAndTrain({{"a", 8}});
    for (int look = 0; look < 200; ++look) Look();
    const std::int64_t done = runtime_.jobs.at("a").progress.step;
    runtime_.nodes[1].state = NodeState::kDown;
    Until("a goes on without n2", [this] { return Trains("a", 4); });
    Look();
    port_.reset();
    cluster_.reset();
    journal_.reset();
    FailureSeen seen;
    std::set<std::int64_t> epochs;
    Seconds began = kNever;
    for (const TimedRecord& one : Journal(folder_ / "journal.jsonl").TakePast()) {
      if (const auto* start = std::get_if<record::Start>(&one.record)) {
        if (start->job == "a") began = std::min(began, one.at);
      } else if (const auto* nodes = std::get_if<record::Nodes>(&one.record)) {
        const bool failed = nodes->nodes.front().state == NodeState::kDown;
        if (failed) seen.after = one.at - began;
      } else if (const auto* announced = std::get_if<record::Announce>(&one.record)) {
        epochs.insert(announced->membership.epoch);
        seen.gpus_left = static_cast<GpuCount>(announced->membership.members.size());
      } else if (const auto* trains = std::get_if<record::Trains>(&one.record)) {
        if (trains->epoch > 0)
          seen.lost = static_cast<double>(std::max<std::int64_t>(0, done - trains->step));
      }
    }
    seen.epochs = epochs.size();
    return seen;
  }
};

FailureSeen Simulate(Seconds after, NodeLoss loss) {
  SimOptions options;
  options.node_events = {{after, 1, false}};
  options.node_loss = loss;
  options.checkpoints = "fixed:every=1h,cost=0";
  options.restart_cost = 1;
  options.decide_on_events = true;
  const Scenario scenario = testing_support::ScenarioOf(
      {{.gpus = 8, .duration = 1e6, .min_gpus = 1, .max_gpus = 8}}, "2x4", options);
  SimulatedCluster cluster(scenario);
  const Observation& o = cluster.Observe();
  const NodeShare shares[] = {{0, UnitCounts(4), GpuMask(4)}, {1, UnitCounts(4), GpuMask(4)}};
  Allocation all;
  all.Add(o.job[0], o.table[0]->Find(UnitCounts(8), 0), shares);
  EXPECT_TRUE(cluster.Apply(all).refused.ok());
  cluster.WaitForChange(kNever);
  FailureSeen seen{.after = o.now};
  seen.epochs = static_cast<std::size_t>(cluster.records()[0].launches());
  if (o.running[0] >= 0) seen.gpus_left = (*o.table[0])[o.running[0]].demand.gpus;
  seen.lost = after - o.done_work[0];
  return seen;
}

TEST_F(HotFailureTest, SimulatorGoesOnAsTheDaemonDoes) {
  const FailureSeen live = FailLive();
  EXPECT_GT(live.after, 10);
  EXPECT_EQ(live.epochs, 2U);
  EXPECT_EQ(live.gpus_left, 4);
  EXPECT_EQ(Simulate(live.after, NodeLoss::kHot), live);
  EXPECT_NE(Simulate(live.after, NodeLoss::kShrink), live) << "it loses what was done";
  EXPECT_NE(Simulate(live.after, NodeLoss::kRequeue), live);
}

}  // namespace
}  // namespace allot
