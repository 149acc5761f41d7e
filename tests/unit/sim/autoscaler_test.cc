// Clusters that grow and shrink: sizes worked out by hand.

#include "sim/autoscaler.h"

#include <gtest/gtest.h>

#include "tests/unit/core/expect_error.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

using testing_support::Jcts;
using testing_support::ScenarioOf;
using testing_support::SmallJob;
using testing_support::Staged;
using Times = std::vector<Seconds>;

RunOutcome RunScaled(const std::vector<SmallJob>& jobs, const std::string& cluster,
                     const std::string& autoscale) {
  SimOptions options;
  options.autoscale = autoscale;
  const Scenario scenario = ScenarioOf(jobs, cluster, options);
  return RunPolicy(scenario, *Staged({.ordering = "submit"}));
}

class TwoThenOne : public Autoscaler {
 public:
  std::int32_t First(std::int32_t) override { return 2; }
  std::int32_t Nodes(const Observation&, std::int32_t, std::int32_t) override { return 1; }
};

ALLOT_REGISTER(AutoscalerInfo,
               (AutoscalerInfo{"two-then-one", "of this test", {}, [](const Params&) {
                                 return std::make_unique<TwoThenOne>();
                               }}));

// (time, nodes) where the number of nodes changes.
std::vector<std::pair<Seconds, int>> Sizes(const RunOutcome& outcome) {
  std::vector<std::pair<Seconds, int>> sizes;
  for (const TimelinePoint& point : outcome.timeline) {
    if (sizes.empty() || sizes.back().second != point.nodes) {
      sizes.emplace_back(point.time, point.nodes);
    }
  }
  return sizes;
}

TEST(AutoscalerTest, AllNodesAreThereWithoutOne) {
  const RunOutcome outcome = RunScaled({{0, 1, 1000}}, "3x1", "");
  EXPECT_EQ(Sizes(outcome), (std::vector<std::pair<Seconds, int>>{{0, 3}}));
}

TEST(AutoscalerTest, ANodeComesForAJobThatWaits) {
  // Two jobs of a GPU on one of two nodes; at 300 s the second has waited for a decision. When both
  // have ended a node goes.
  const RunOutcome outcome =
      RunScaled({{0, 1, 1000}, {0, 1, 1000}}, "2x1", "min=1,utility=0.5|2,window=1");
  EXPECT_EQ(Sizes(outcome), (std::vector<std::pair<Seconds, int>>{{0, 1}, {300, 2}, {1500, 1}}));
  EXPECT_EQ(Jcts(outcome), (Times{1000, 1300}));
}

TEST(AutoscalerTest, NodesThatAreNotNeededGo) {
  // At 300 s the second job waits and a node comes. It ends at 600 s: one GPU of two is in use, a
  // utility of 0.5. The node that holds nothing goes, and the first job goes on.
  const RunOutcome outcome =
      RunScaled({{0, 1, 5000}, {0, 1, 300}}, "2x1", "min=1,utility=0.6|2,window=1");
  EXPECT_EQ(Sizes(outcome), (std::vector<std::pair<Seconds, int>>{{0, 1}, {300, 2}, {600, 1}}));
  EXPECT_EQ(Jcts(outcome), (Times{5000, 600}));
}

TEST(AutoscalerTest, AJobOfANodeThatGoesLosesItsRestartOnly) {
  // An autoscaler that has two nodes, then one: at 300 s the later job stops with all it did.
  const RunOutcome outcome = RunScaled({{0, 1, 900}, {0, 1, 900}}, "2x1", "two-then-one");
  EXPECT_EQ(Sizes(outcome), (std::vector<std::pair<Seconds, int>>{{0, 2}, {300, 1}}));
  EXPECT_EQ(Jcts(outcome), (Times{900, 900 + 30 + 600}));
  EXPECT_EQ(outcome.records[1].preemptions, 1);
  EXPECT_EQ(outcome.records[1].failures, 1);
}

TEST(AutoscalerTest, WhatItCannotBeIsRefused) {
  ExpectError(ExitCode::kUsage, {"LOW below HIGH", "0.8|0.5"},
              [] { MakeAutoscaler("utility=0.8|0.5"); });
  ExpectError(ExitCode::kUsage, {"'max'", "4 and 8"}, [] { MakeAutoscaler("min=8,max=4"); });
  ExpectError(ExitCode::kUsage, {"utilty"}, [] { MakeAutoscaler("utilty:min=8"); });
  SimOptions options;
  options.autoscale = "min=1";
  options.node_events = {{400, 0, false}};
  ExpectError(ExitCode::kUsage, {"do not fail", "1 events"}, [&] {
    ScenarioOf({{0, 1, 1000}}, "2x1", options);
  });
}

}  // namespace
}  // namespace allot
