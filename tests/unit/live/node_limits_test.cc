// Jobs that only some nodes may run: decisions that know nothing of it are told on those nodes.

#include "tests/unit/live/live_cluster_fixture.h"

namespace allot {
namespace {

class NodeLimitsTest : public LiveClusterFixture {
 protected:
  // Two jobs that wait; `a` runs on the named nodes only.
  void Begin(std::vector<std::string> only_on) {
    RuntimeJob& a = runtime_.AddJob("a", 2, 1, 4);
    a.only_on = std::move(only_on);
    a.limits = "--constraint=x";
    runtime_.AddJob("b", 2, 1, 4);
    Serve();
    port_->WaitForChange(0);
  }
  std::string NodesOf(const std::string& id) const {
    std::string names;
    for (const NodeShare& share : JobOf(id).shares) {
      names += fmt::format("{}:{:x} ", cluster_->state().nodes()[std::size_t(share.node)].name,
                           share.gpus);
    }
    return names;
  }
};

TEST_F(NodeLimitsTest, WhatIsGivenElsewhereIsMovedToFreeGpus) {
  Begin({"n2"});
  Decide({{"a", 2}, {"b", 2}});
  EXPECT_EQ(NodesOf("a"), "n2:3 ");
  EXPECT_EQ(NodesOf("b"), "n1:c ");
  Until("training", [&] { return Trains("a", 2) && Trains("b", 2); });
}

TEST_F(NodeLimitsTest, TheSameDecisionAgainMovesNothing) {
  Begin({"n2"});
  TrainOn({{"a", 2}, {"b", 2}});
  const int changes = JobOf("a").changes;
  port_->WaitForChange(0);
  Decide({{"a", 2}, {"b", 2}});
  EXPECT_EQ(NodesOf("a"), "n2:3 ");
  EXPECT_EQ(JobOf("a").changes, changes);
}

TEST_F(NodeLimitsTest, OneThatBeginsElsewhereAsWellGivesItsPlace) {
  Begin({"n2"});
  Decide({{"a", 4}, {"b", 4}});  // all of n1 for a, all of n2 for b
  EXPECT_EQ(NodesOf("a"), "n2:f ");
  EXPECT_EQ(NodesOf("b"), "n1:f ");
}

TEST_F(NodeLimitsTest, OneThatRunsStaysAndTheOtherRests) {
  Begin({"n2"});
  Decide({{"b", 4}});  // on n1
  Until("training", [&] { return Trains("b", 4); });
  RuntimeJob& c = runtime_.AddJob("c", 4, 4, 4);
  c.only_on = {"n1"};
  c.limits = "--constraint=y";
  Until("c to be seen", [&] { return port_->Observe().rows() == 3; });
  Allocation answer = Of({{"b", 4}});
  const std::vector<NodeShare> other = {{NodeIndex{1}, UnitCounts(4), 0xf}};
  answer.Add(JobOf("c").index, JobOf("c").table->Find(UnitCounts(4), 0), other);
  EXPECT_TRUE(port_->Apply(answer).refused.ok());
  EXPECT_EQ(NodesOf("b"), "n1:f ");
  EXPECT_EQ(NodesOf("c"), "");
  EXPECT_TRUE(cluster_->pending().BacksOff(JobOf("c"))) << "other jobs get what it cannot use";
  EXPECT_EQ(cluster_->pending().ReasonOf(JobOf("c")),
            "no GPU is left where it may run (--constraint=y)");
}

TEST_F(NodeLimitsTest, WorkersAreSpreadOverWhatIsLeftWhereTheyMayRun) {
  runtime_.AddNode("n3", 8);
  Begin({"n1", "n2"});
  Allocation answer;
  const std::vector<NodeShare> large = {{NodeIndex{2}, UnitCounts(4), 0xf}};
  const std::vector<NodeShare> others = {{NodeIndex{0}, UnitCounts(3), 0x7},
                                         {NodeIndex{1}, UnitCounts(1), 0x1}};
  answer.Add(JobOf("a").index, JobOf("a").table->Find(UnitCounts(4), 0), large);
  answer.Add(JobOf("b").index, JobOf("b").table->Find(UnitCounts(4), 0), others);
  EXPECT_TRUE(port_->Apply(answer).refused.ok());
  EXPECT_EQ(NodesOf("a"), "n1:8 n2:e ");
  EXPECT_EQ(NodesOf("b"), "n1:7 n2:1 ");
  Until("training", [&] { return Trains("a", 4); });
}

TEST_F(NodeLimitsTest, TheyAreFewerWhereThatIsLess) {
  Begin({"n2"});
  Allocation answer;
  const std::vector<NodeShare> large = {{NodeIndex{0}, UnitCounts(4), 0xf}};
  const std::vector<NodeShare> others = {{NodeIndex{1}, UnitCounts(1), 0x1}};
  answer.Add(JobOf("a").index, JobOf("a").table->Find(UnitCounts(4), 0), large);
  answer.Add(JobOf("b").index, JobOf("b").table->Find(UnitCounts(1), 0), others);
  EXPECT_TRUE(port_->Apply(answer).refused.ok());
  EXPECT_EQ(NodesOf("a"), "n2:e ");
  EXPECT_EQ((*JobOf("a").table)[JobOf("a").running].demand.gpus, 3);
}

// A policy that prefers a type would name it for ever.
TEST_F(NodeLimitsTest, AJobThatWaitsGoesToAnotherTypeWhereNoNodeOfThisOneIsLeft) {
  runtime_.AddNode("n3", 4, "other");
  Begin({"n3"});
  Decide({{"a", 2}, {"b", 2}});
  EXPECT_EQ(NodesOf("a"), "n3:3 ");
  EXPECT_EQ(NodesOf("b"), "n1:c ");
  Until("training", [&] { return Trains("a", 2) && Trains("b", 2); });
}

TEST_F(NodeLimitsTest, AJobThatCannotGrowWhereItMayRunKeepsWhatItHas) {
  Begin({"n1"});
  Decide({{"a", 2}, {"b", 2}});  // both on n1
  Until("training", [&] { return Trains("a", 2) && Trains("b", 2); });
  Allocation answer;
  const std::vector<NodeShare> grown = {{NodeIndex{0}, UnitCounts(2), 0x3},
                                        {NodeIndex{1}, UnitCounts(1), 0x1}};
  const std::vector<NodeShare> same = {{NodeIndex{0}, UnitCounts(2), 0xc}};
  answer.Add(JobOf("a").index, JobOf("a").table->Find(UnitCounts(3), 0), grown);
  answer.Add(JobOf("b").index, JobOf("b").table->Find(UnitCounts(2), 0), same);
  port_->WaitForChange(0);
  EXPECT_TRUE(port_->Apply(answer).refused.ok());
  EXPECT_EQ(NodesOf("a"), "n1:3 ");
}

// Two nodes of four GPUs; the job `c` is given three on one and one on the other.
class EvenTest : public NodeLimitsTest {
 protected:
  void Give(GpuCount on_n1, GpuCount held_by_b) {
    RuntimeJob& c = runtime_.AddJob("c", 4, 4, 4, ResizeMode::kRestart);
    c.even = true;
    Begin({});
    Allocation answer;
    const std::uint64_t of_b = GpuMask(held_by_b);
    const std::vector<NodeShare> b = {{NodeIndex{0}, UnitCounts(held_by_b), of_b}};
    const std::vector<NodeShare> uneven = {
        {NodeIndex{0}, UnitCounts(on_n1), GpuMask(on_n1) << held_by_b},
        {NodeIndex{1}, UnitCounts(4 - on_n1), GpuMask(4 - on_n1)}};
    answer.Add(JobOf("b").index, JobOf("b").table->Find(UnitCounts(held_by_b), 0), b);
    answer.Add(JobOf("c").index, JobOf("c").table->Find(UnitCounts(4), 0), uneven);
    EXPECT_TRUE(port_->Apply(answer).refused.ok());
  }
};

TEST_F(EvenTest, AJobOfEqualPartsGetsThemOnAsManyNodes) {
  Give(1, 2);
  EXPECT_EQ(NodesOf("c"), "n1:c n2:3 ");
}

TEST_F(EvenTest, OrOnAnotherNumberOfNodes) {
  Give(1, 3);
  EXPECT_EQ(NodesOf("c"), "n2:f ");
  EXPECT_EQ(NodesOf("b"), "n1:7 ");
}

TEST_F(EvenTest, OrOnAnotherType) {
  runtime_.nodes[1].taken = 1;
  runtime_.AddNode("n3", 4, "other");
  Give(1, 3);
  EXPECT_EQ(NodesOf("c"), "n3:f ");
  EXPECT_EQ((*JobOf("c").table)[JobOf("c").running].gpu_type, 1);
}

TEST_F(EvenTest, OrRests) {
  runtime_.nodes[1].taken = 1;
  Give(1, 3);
  EXPECT_EQ(NodesOf("c"), "");
  EXPECT_TRUE(cluster_->pending().BacksOff(JobOf("c")));
}

}  // namespace
}  // namespace allot
