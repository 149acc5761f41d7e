#include "sim/changing_nodes.h"

#include <gtest/gtest.h>

#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

using testing_support::ScenarioOf;

GpuCount GpusOf(const ChangingNodes& nodes, std::size_t node) {
  return nodes.cluster().nodes()[node].capacity.gpus;
}

TEST(ChangingNodes, ANodeWhoseFirstEventIsUpJoinsLater) {
  SimOptions options;
  options.node_events = {{100, 1, true}};
  const Scenario scenario = ScenarioOf({{0, 1, 1000}}, "2x4", options);
  ChangingNodes nodes(scenario);
  EXPECT_EQ(nodes.present(), 1);
  EXPECT_EQ(GpusOf(nodes, 1), 0);
  nodes.TakeEvent();
  EXPECT_EQ(nodes.present(), 2);
  EXPECT_EQ(GpusOf(nodes, 1), 4);
  EXPECT_EQ(nodes.next_event(), nullptr);
}

TEST(ChangingNodes, ANodeStaysAwayUntilItsWindowAndItsFailureAreOver) {
  SimOptions options;
  options.node_events = {{100, 0, false},
                         {200, 0, false, NodeEventReason::kPlanned},
                         {300, 0, true},
                         {400, 0, true, NodeEventReason::kPlanned}};
  const Scenario scenario = ScenarioOf({{0, 1, 1000}}, "2x4", options);
  ChangingNodes nodes(scenario);
  for (const GpuCount gpus : {0, 0, 0, 4}) {
    nodes.TakeEvent();
    EXPECT_EQ(GpusOf(nodes, 0), gpus);
  }
}

TEST(ChangingNodes, LentNodesAreTheFirstOnes) {
  SimOptions options;
  options.services = "weekly";
  const Scenario scenario = ScenarioOf({{0, 1, 1000}}, "16x4", options);
  ChangingNodes nodes(scenario);
  const std::int32_t lent = scenario.lending()->first();
  ASSERT_LT(lent, 16);
  EXPECT_EQ(nodes.present(), lent);
  EXPECT_EQ(GpusOf(nodes, static_cast<std::size_t>(lent)), 0);
  EXPECT_EQ(nodes.NextChange(), scenario.lending()->changes()[1].time);
  EXPECT_EQ(nodes.TakeLent(), scenario.lending()->changes()[1].nodes);
}

TEST(ChangingNodes, TheLastOfTheLeastUsedNodesGoesFirst) {
  const Scenario scenario = ScenarioOf({{0, 1, 1000}}, "3x4", {.autoscale = "min=3"});
  ChangingNodes nodes(scenario);
  ASSERT_EQ(nodes.present(), 3);
  Observation o;
  o.shares = {{1, {1}, 1}};
  EXPECT_EQ(nodes.LeastUsed(o), 2);
  nodes.Remove(2);
  EXPECT_EQ(nodes.LeastUsed(o), 0);
  nodes.GrowTo(3);
  EXPECT_EQ(GpusOf(nodes, 2), 4);
}

}  // namespace
}  // namespace allot
