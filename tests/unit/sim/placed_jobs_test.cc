// Jobs whose rate depends on their place and on who shares their uplinks: ends stay exact.

#include <gtest/gtest.h>

#include "cluster/topology_text.h"
#include "sim/job_walks.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

using testing_support::Jcts;
using testing_support::SmallJob;
using testing_support::WorkloadOf;

using Times = std::vector<Seconds>;

// Two leaves of two nodes of one GPU: across leaves communication takes twice as long, and half of
// an iteration is communication. T = 1.5 alone, 2 beside another such job.
Scenario TwoLeaves(const std::vector<SmallJob>& jobs, SimOptions options = {}) {
  Workload workload = WorkloadOf(jobs);
  for (Job& job : workload.jobs) job.communication.share = 0.5F;
  ClusterSpec cluster = ClusterSpec::Parse("4x1");
  ReadReport report;
  cluster.SetTopology(ParseTopology("leaf=2:factor=2:uplink=1,all:factor=4", cluster, &report));
  return Scenario(std::move(workload), std::move(cluster), std::move(options));
}

// Gives each job that is there its nodes, always.
class FixedNodes : public Policy {
 public:
  explicit FixedNodes(std::vector<std::vector<NodeIndex>> nodes) : nodes_(std::move(nodes)) {
    info_.id = "fixed";
    info_.time_driven = true;
  }
  const PolicyInfo& info() const override { return info_; }
  void Decide(const Observation& o, Allocation* allocation) override {
    allocation->Clear();
    for (std::size_t r = 0; r < o.job.size(); ++r) {
      std::vector<NodeShare> shares;
      for (const NodeIndex node : nodes_[static_cast<std::size_t>(o.job[r])]) {
        shares.push_back({node, UnitCounts(1), 1});
      }
      allocation->Add(o.job[r], o.requested[r], shares);
      seen_congestion.push_back(o.places[r].congestion);
    }
  }
  std::vector<float> seen_congestion;

 private:
  PolicyInfo info_;
  std::vector<std::vector<NodeIndex>> nodes_;
};

TEST(PlacedJobsTest, AJobInOneLeafHasItsFullRate) {
  FixedNodes policy({{0, 1}});
  EXPECT_EQ(Jcts(RunPolicy(TwoLeaves({{0, 2, 90}}), policy)), (Times{90}));
}

TEST(PlacedJobsTest, AJobAcrossLeavesIsSlowedByItsLevel) {
  FixedNodes policy({{0, 2}});
  EXPECT_EQ(Jcts(RunPolicy(TwoLeaves({{0, 2, 90}}), policy)), (Times{135}));
}

TEST(PlacedJobsTest, AnEndBetweenDecisionsChangesTheRateOfTheOther) {
  FixedNodes policy({{0, 2}, {1, 3}});
  // Both at 1/2 until 80 s, then the other 60 units at 1/1.5, all before the next decision.
  EXPECT_EQ(Jcts(RunPolicy(TwoLeaves({{0, 2, 100}, {0, 2, 40}}), policy)), (Times{170, 80}));
}

TEST(PlacedJobsTest, AnArrivalSlowsTheOtherFromItsDecisionOn) {
  SimOptions options;
  options.interval = 30;
  FixedNodes policy({{0, 2}, {1, 3}});
  // 20 units by 30 s at 1/1.5, then 80 at 1/2; the second has 40 by 110 s, and then the first is
  // alone with 40 left.
  EXPECT_EQ(Jcts(RunPolicy(TwoLeaves({{0, 2, 100}, {30, 2, 40}}, options), policy)),
            (Times{110 + 60, 80}));
}

TEST(PlacedJobsTest, PoliciesSeeTheCongestionThatIs) {
  SimOptions options;
  options.interval = 60;
  FixedNodes policy({{0, 2}, {1, 3}});
  RunPolicy(TwoLeaves({{0, 2, 100}, {0, 2, 40}}, options), policy);
  EXPECT_EQ(policy.seen_congestion[0], 1.0F);  // nothing runs yet
  EXPECT_EQ(policy.seen_congestion[2], 1.5F);
  EXPECT_EQ(policy.seen_congestion.back(), 1.0F);
}

TEST(PlacedJobsTest, WorkSinceTheLastCheckpointIsThatOfTheRatesThen) {
  const Scenario scenario = TwoLeaves({{0, 2, 100}});
  Observation o;
  o.share_begin.assign(1, 0);
  const std::vector<NodeShare> shares = {{0, UnitCounts(1), 1}, {2, UnitCounts(1), 1}};
  o.Append({.table = scenario.facts(0).table.get(), .running = scenario.facts(0).requested},
           shares);
  JobWalks walks(scenario);
  EXPECT_EQ(walks.Begin(o, 0, 0, {.level = 2, .congestion = 1.5}), 200);
  o.now = 80;
  o.done_work[0] = 40;
  EXPECT_EQ(walks.Continue(o, 0, 0, {.level = 2}), 170);
  EXPECT_EQ(walks.DoneSinceBegin(o, 0, 60), 30);
  EXPECT_EQ(walks.DoneSinceBegin(o, 0, 110), 60);
  EXPECT_EQ(walks.DoneAfter(o, 0, 40, 30), 60);
}

TEST(PlacedJobsTest, WithoutATopologySharesOfCommunicationMeanNothing) {
  Workload workload = WorkloadOf({{0, 2, 90}});
  workload.jobs[0].communication.share = 0.5F;
  const Scenario scenario(std::move(workload), ClusterSpec::Parse("4x1"), {});
  EXPECT_FALSE(scenario.has_placed_jobs());
  EXPECT_FALSE(scenario.has_processes());
}

}  // namespace
}  // namespace allot
