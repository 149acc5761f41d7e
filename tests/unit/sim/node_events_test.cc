#include "sim/node_events.h"

#include <gtest/gtest.h>

#include "core/file.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

using testing_support::Jcts;
using testing_support::ScenarioOf;
using testing_support::Staged;
using Times = std::vector<Seconds>;

RunOutcome RunWith(const std::vector<NodeEvent>& events,
                   const std::vector<testing_support::SmallJob>& jobs, const std::string& cluster,
                   const std::string& checkpoints = "continuous",
                   NodeLoss loss = NodeLoss::kRequeue) {
  SimOptions options;
  options.node_events = events;
  options.checkpoints = checkpoints;
  options.node_loss = loss;
  const Scenario scenario = ScenarioOf(jobs, cluster, options);
  return RunPolicy(scenario, *Staged({.ordering = "submit"}));
}

TEST(NodeEventsTest, AJobOfAFailedNodeGoesOnElsewhere) {
  // Stops at 400 s with 400 s done; launched at 600 s on node 1: 30 s of restart, 600 s of work.
  const RunOutcome outcome = RunWith({{400, 0, false}}, {{0, 1, 1000}}, "2x1");
  EXPECT_EQ(Jcts(outcome), (Times{1230}));
  EXPECT_EQ(outcome.records[0].preemptions, 1);
  EXPECT_EQ(outcome.records[0].failures, 1);
  EXPECT_EQ(outcome.records[0].gpu_seconds, 400 + 630);
}

TEST(NodeEventsTest, WhatWasDoneSinceTheLastCheckpointIsLost) {
  // Checkpoints at 300 s: 100 s of the 400 s are done again.
  const RunOutcome outcome =
      RunWith({{400, 0, false}}, {{0, 1, 1000}}, "2x1", "fixed:every=300,cost=0");
  EXPECT_EQ(Jcts(outcome), (Times{1330}));
}

TEST(NodeEventsTest, JobsWaitForARepair) {
  const RunOutcome outcome = RunWith({{400, 0, false}, {1000, 0, true}}, {{0, 1, 1000}}, "1x1");
  EXPECT_EQ(Jcts(outcome), (Times{1200 + 30 + 600}));
}

TEST(NodeEventsTest, ANodeThatComesUpFirstJoins) {
  const RunOutcome outcome = RunWith({{1000, 1, true}}, {{0, 1, 3000}, {0, 1, 300}}, "2x1");
  EXPECT_EQ(outcome.records[1].first_start, 1200);
}

TEST(NodeEventsTest, RandomFailuresFollowTheSeedAndEnd) {
  const auto law = MakeFaultLaw("exponential:between=9h60m,repair=1h");
  const auto events = DrawNodeEvents(*law, 20, 1e6, 5);
  EXPECT_EQ(events, DrawNodeEvents(*law, 20, 1e6, 5));
  EXPECT_NE(events, DrawNodeEvents(*law, 20, 1e6, 6));
  // 20 nodes, a cycle of 11 h: about 505 failures; every node that went down comes up.
  std::vector<int> up(20, 1);
  std::int64_t down_events = 0;
  for (const NodeEvent& event : events) {
    up[static_cast<std::size_t>(event.node)] += event.up ? 1 : -1;
    down_events += event.up ? 0 : 1;
  }
  EXPECT_EQ(up, std::vector<int>(20, 1));
  EXPECT_NEAR(static_cast<double>(down_events), 505, 70);
}

// On two nodes of one GPU, as fast on one as on two; 400 of its 460 s are done, 300 are written.
RunOutcome WithoutOneOfTwoNodes(NodeLoss loss) {
  return RunWith({{400, 0, false}, {590, 0, true}}, {{0, 2, 460, 1, 4}}, "2x1",
                 "fixed:every=300,cost=0", loss);
}

TEST(NodeEventsTest, AHotJobLosesOnlyARestart) {
  const RunOutcome outcome = WithoutOneOfTwoNodes(NodeLoss::kHot);
  EXPECT_EQ(Jcts(outcome), (Times{400 + 30 + 60}));
  EXPECT_EQ(outcome.records[0].gpu_seconds, 2 * 400 + 90);
  EXPECT_EQ(outcome.records[0].shrinks, 1);
  EXPECT_EQ(outcome.records[0].failures, 0);
  EXPECT_EQ(outcome.lost, (LostGpuSeconds{.restarts = 30}));
}

TEST(NodeEventsTest, AJobThatShrinksLosesWhatIsNotWritten) {
  const RunOutcome outcome = WithoutOneOfTwoNodes(NodeLoss::kShrink);
  EXPECT_EQ(Jcts(outcome), (Times{400 + 30 + 160}));
  EXPECT_EQ(outcome.lost, (LostGpuSeconds{.redone = 200, .restarts = 30}));
}

TEST(NodeEventsTest, AJobThatIsRequeuedWaitsToo) {
  const RunOutcome outcome = WithoutOneOfTwoNodes(NodeLoss::kRequeue);
  EXPECT_EQ(Jcts(outcome), (Times{600 + 30 + 160}));
  EXPECT_EQ(outcome.records[0].failures, 1);
  EXPECT_EQ(outcome.records[0].shrinks, 0);
}

TEST(NodeEventsTest, AHotJobThatCannotShrinkIsRequeued) {
  const RunOutcome outcome = RunWith({{400, 0, false}, {590, 0, true}}, {{0, 2, 460}}, "2x1",
                                     "fixed:every=300,cost=0", NodeLoss::kHot);
  EXPECT_EQ(Jcts(outcome), (Times{600 + 30 + 160}));
}

TEST(NodeEventsTest, ARecallWithEnoughNoticeLosesNoWork) {
  const auto jct_with_notice = [](Seconds notice) {
    const RunOutcome outcome = RunWith({{500, 0, false, NodeEventReason::kRecall, notice}},
                                       {{0, 1, 600}}, "2x1", "fixed:every=300,cost=100");
    EXPECT_EQ(outcome.records[0].evictions, 1);
    EXPECT_EQ(outcome.records[0].failures, 0);
    return Jcts(outcome)[0];
  };
  // A quarter of the time goes to checkpoints: 375 of 600 s are done, 300 of these are written.
  EXPECT_NEAR(jct_with_notice(100), 600 + 30 + 225 / 0.75, 1e-6);
  EXPECT_NEAR(jct_with_notice(99), 600 + 30 + 300 / 0.75, 1e-6);
}

TEST(NodeEventsTest, SpotNodesAreCalledBackWithNotice) {
  const auto law = MakeFaultLaw("spot:between=6h,away=1h,notice=90");
  const auto events = DrawNodeEvents(*law, 3, 1e6, 5);
  ASSERT_FALSE(events.empty());
  for (const NodeEvent& event : events) {
    EXPECT_EQ(event.reason, NodeEventReason::kRecall);
    EXPECT_EQ(event.notice, event.up ? 0 : 90);
  }
}

TEST(NodeEventsTest, CheckpointsTakeTime) {
  // 1,000 s of work in 4 parts of 250 s, each with 50 s for its checkpoint.
  const RunOutcome outcome = RunWith({}, {{0, 1, 1000}}, "1x1", "fixed:every=250,cost=50");
  EXPECT_NEAR(Jcts(outcome)[0], 1200, 1e-6);
  ASSERT_TRUE(outcome.lost.has_value());
  EXPECT_NEAR(outcome.lost->checkpoints, 200, 1e-6);
  EXPECT_EQ(outcome.lost->restarts, 0);
}

TEST(NodeEventsTest, LostGpuTimeIsCountedByCause) {
  // 100 of the 400 s are done again, on 1 GPU, and the restart takes 30 s.
  const RunOutcome outcome =
      RunWith({{400, 0, false}}, {{0, 1, 1000}}, "2x1", "fixed:every=300,cost=0");
  ASSERT_TRUE(outcome.lost.has_value());
  EXPECT_EQ(*outcome.lost, (LostGpuSeconds{.redone = 100, .restarts = 30}));
}

// Of each node the events of a file alternate; drawn ones of the same node may fall between them.
TEST(NodeEventsTest, EventsOfAFileGoTogetherWithRandomFailures) {
  const testing_support::TempFolder folder;
  const std::string path = (folder / "events.csv").string();
  WriteTextFile(path, "time_s,node,event\n100,0,down\n100,0,up\n5000,0,down\n9000,0,up\n");
  SimOptions options;
  options.node_events = ReadNodeEvents(path);
  EXPECT_EQ(options.node_events.size(), 4U);
  options.failures = "exponential:between=1h,repair=30min";
  const Scenario scenario = ScenarioOf({{0, 1, 20000}}, "2x1", options);
  EXPECT_GT(scenario.node_events().size(), 4U);
  EXPECT_GT(RunPolicy(scenario, *Staged({.ordering = "submit"})).records[0].failures, 0);
}

TEST(NodeEventsTest, BadInputNamesRuleValueAndPlace) {
  ExpectError(ExitCode::kUsage, {"requeue or shrink or hot", "'warm'"},
              [] { ParseNodeLoss("warm"); });
  ExpectError(ExitCode::kBadData, {"node 7", "it has 1"}, [] {
    RunWith({{400, 7, false}}, {{0, 1, 10}}, "1x1");
  });
  const testing_support::TempFolder folder;
  const std::string path = (folder / "events.csv").string();
  WriteTextFile(path, "time_s,node,event\n10,0,down\n5,0,up\n");
  ExpectError(ExitCode::kBadData, {":3", "ascend", "5 follows 10"}, [&] { ReadNodeEvents(path); });
  WriteTextFile(path, "time_s,node,event\n10,0,down\n10,1,down\n20,0,down\n");
  ExpectError(ExitCode::kBadData, {":4", "got 'down' for node 0", "down since line 2"},
              [&] { ReadNodeEvents(path); });
  // Up twice: the node joins at 5 s.
  WriteTextFile(path, "time_s,node,event\n5,1,up\n6,0,up\n7,1,up\n");
  ExpectError(ExitCode::kBadData, {":4", "got 'up' for node 1", "up since line 2"},
              [&] { ReadNodeEvents(path); });
  WriteTextFile(path, "time_s,node,event\n10,0,broken\n");
  ExpectError(ExitCode::kBadData, {":2", "up or down", "'broken'"}, [&] { ReadNodeEvents(path); });
}

}  // namespace
}  // namespace allot
