// What the cluster does not begin with, and GPUs that others hold: jobs are tried elsewhere, and
// their users and the metrics are told why.

#include "live/daemon/daemon.h"
#include "live/daemon/daemon_metrics.h"
#include "tests/unit/live/live_cluster_fixture.h"

namespace allot {
namespace {

class PendingPlacementsTest : public LiveClusterFixture {
 protected:
  template <typename Condition>
  void LookUntil(const char* what, const Condition& condition) {
    for (int look = 0; look < 2000; ++look) {
      if (condition()) return;
      Look();
    }
    FAIL() << "never came: " << what << "\n" << JournalEnd();
  }
  GpuCount SeenOf(std::size_t node) const {
    return port_->Observe().cluster->nodes()[node].capacity.gpus;
  }
  std::vector<NodeIndex> Avoided(const std::string& id) const {
    return cluster_->pending().AvoidedBy(JobOf(id));
  }
  std::string ReasonOf(const std::string& id) const {
    return cluster_->pending().ReasonOf(JobOf(id));
  }
};

TEST_F(PendingPlacementsTest, WhatOthersHoldIsNotSeenByPolicies) {
  runtime_.nodes[0].taken = 3;
  runtime_.AddJob("a", 2, 1, 8);
  Serve();
  port_->WaitForChange(0);
  EXPECT_EQ(SeenOf(0), 1);
  TrainOn({{"a", 5}});
  runtime_.nodes[0].taken = 0;
  Until("all of it again", [&] { return SeenOf(0) == 4; });
}

TEST_F(PendingPlacementsTest, OthersDoNotTakeWhatAJobHolds) {
  runtime_.AddJob("a", 4, 4, 4);
  ServeAndTrain({{"a", 4}});
  runtime_.nodes[0].taken = 4;  // a reservation begins
  runtime_.AddJob("b", 1, 1, 1);
  ASSERT_TRUE(port_->WaitForChange(0));
  EXPECT_EQ(SeenOf(0), 4);
  EXPECT_TRUE(Trains("a", 4));
}

TEST_F(PendingPlacementsTest, AJobIsNotTriedWhereOthersHoldItsMemory) {
  runtime_.nodes[0].memory = {8000, 6000};
  runtime_.nodes[1].memory = {8000, 0};
  runtime_.AddJob("a", 2, 2, 2).memory = {.mib = 3000};
  runtime_.AddJob("b", 2, 2, 2, ResizeMode::kRestart).memory = {.whole_node = true};
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  Decide({{"a", 2}, {"b", 2}});
  EXPECT_EQ(JobOf("a").shares.front().node, 1);
  EXPECT_EQ(JobOf("b").shares.front().node, 1);
}

TEST_F(PendingPlacementsTest, AJobWhoseMemoryOthersHoldWaitsAndSaysSo) {
  runtime_.nodes[0].memory = {8000, 6000};
  runtime_.nodes[1].memory = {8000, 7000};
  runtime_.AddJob("a", 2, 2, 2).memory = {.mib = 3000};
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  Decide({{"a", 2}});
  EXPECT_TRUE(JobOf("a").shares.empty());
  EXPECT_EQ(ReasonOf("a"),
            "no GPU is left where it may run (it needs 3000 MiB of memory on a node, and others "
            "have that of n1, n2)");
  runtime_.nodes[1].memory = {8000, 0};
  Until("they give it back", [&] {
    Decide({{"a", 2}});
    return !JobOf("a").shares.empty();
  });
}

TEST_F(PendingPlacementsTest, AJobThatDoesNotBeginIsTriedOnOtherNodes) {
  runtime_.AddJob("a", 2, 2, 2, ResizeMode::kRestart);
  runtime_.pending_nodes["n1"] = "ReqNodeNotAvail";
  Serve();
  port_->WaitForChange(0);
  Decide({{"a", 2}});
  Look();
  Look();
  EXPECT_EQ(ReasonOf("a"), "pending: ReqNodeNotAvail");
  EXPECT_NE(JobOf("a").worker_group.stage(JobOf("a").progress), JobStage::kTraining);
  EXPECT_NE(MetricsText(*cluster_, {}).find("allot_workers_pending{reason=\"ReqNodeNotAvail\"} 1"),
            std::string::npos);
  LookUntil("it to be taken back", [&] { return JobOf("a").running < 0; });
  EXPECT_EQ(ReasonOf("a"), "pending: ReqNodeNotAvail") << "its user still reads why";
  ASSERT_TRUE(port_->WaitForChange(0));
  EXPECT_EQ(SeenOf(0), 4) << "n1 is open to others";
  Decide({{"a", 2}});
  LookUntil("it to run on n2", [&] { return Trains("a", 1); });
  EXPECT_EQ(ReasonOf("a"), "");
  LookUntil("n1 to be tried again", [&] { return Avoided("a").empty(); });
}

TEST_F(PendingPlacementsTest, NodeThatDoesNotFitOneUsersJobIsOpenToOthers) {
  runtime_.AddJob("large", 1, 1, 1).user = "eve";
  runtime_.AddJob("alike", 1, 1, 1).user = "eve";
  runtime_.AddJob("other", 1, 1, 1).user = "alice";
  runtime_.pending_nodes["n1"] = "Resources";
  Serve();
  port_->WaitForChange(0);
  Decide({{"large", 1}});
  LookUntil("it to be taken back", [&] { return JobOf("large").running < 0; });
  EXPECT_EQ(Avoided("large"), std::vector<NodeIndex>{0});
  EXPECT_EQ(Avoided("alike"), std::vector<NodeIndex>{0});
  EXPECT_TRUE(Avoided("other").empty());
  runtime_.pending_nodes.clear();
  ASSERT_TRUE(port_->WaitForChange(0));
  Decide({{"alike", 1}, {"other", 1}});
  EXPECT_EQ(JobOf("alike").shares.front().node, 1);
  EXPECT_EQ(JobOf("other").shares.front().node, 0);
}

// Its numbers are others all the time: as a label it would be series without end.
TEST_F(PendingPlacementsTest, TheClustersSentenceIsForPeopleAndItsWordForTheMetric) {
  runtime_.AddJob("a", 2, 2, 2, ResizeMode::kRestart);
  runtime_.pending_nodes["n1"] = "Unschedulable";
  runtime_.pending_detail = "0/37 nodes are available: 3 Insufficient cpu.";
  Serve();
  port_->WaitForChange(0);
  Decide({{"a", 2}});
  Look();
  Look();
  EXPECT_EQ(ReasonOf("a"), "pending: Unschedulable: 0/37 nodes are available: 3 Insufficient cpu.");
  EXPECT_NE(MetricsText(*cluster_, {}).find("allot_workers_pending{reason=\"Unschedulable\"} 1\n"),
            std::string::npos);
  runtime_.pending_nodes.clear();
  LookUntil("it to begin", [&] { return Trains("a", 1); });
  EXPECT_EQ(ReasonOf("a"), "");
}

TEST_F(PendingPlacementsTest, AnElasticJobTrainsOnWhatHasBegun) {
  runtime_.AddJob("a", 4, 1, 8);
  runtime_.pending_nodes["n2"] = "Resources";
  Serve();
  port_->WaitForChange(0);
  Decide({{"a", 6}});
  Look();
  Look();
  for (const auto& [id, worker] : runtime_.workers) {
    if (worker.seen.node == "n2") runtime_.frozen.insert(id);  // to be ended takes its time, too
  }
  LookUntil("n2 to be taken back", [&] { return JobOf("a").shares.size() == 1; });
  ASSERT_TRUE(port_->WaitForChange(0));
  EXPECT_EQ(Avoided("a"), std::vector<NodeIndex>{1}) << "the next decision does not give it n2";
  EXPECT_TRUE(Trains("a", 4));
}

TEST_F(PendingPlacementsTest, AGrowthThatCannotBeginIsTriedLessAndLess) {
  runtime_.AddJob("a", 4, 1, 8);
  runtime_.pending_nodes["n2"] = "Resources";
  Serve();
  port_->WaitForChange(0);
  for (int tries = 0; tries < PendingPlacements::kTries + 1; ++tries) {
    Decide({{"a", 6}});
    EXPECT_EQ(JobOf("a").shares.size(), 2U) << tries;
    LookUntil("it to be taken back", [&] { return JobOf("a").shares.size() == 1; });
    LookUntil("n2 to be open", [&] { return Avoided("a").empty(); });
    ASSERT_TRUE(port_->WaitForChange(0));
  }
  Until("training on 4", [&] { return Trains("a", 4); });
  EXPECT_EQ(JobOf("a").table->configurations().back().demand.gpus, 4)
      << "it keeps what it has, and policies can give it no more";
  time_.Pass(2 * PendingPlacements::kFirstBackOff);
  ASSERT_TRUE(port_->WaitForChange(0));
  Decide({{"a", 6}});
  EXPECT_EQ(JobOf("a").shares.size(), 2U) << "it is tried again";
}

TEST_F(PendingPlacementsTest, ALimitOfAUserHidesNoNodeAndRestsTheUser) {
  runtime_.AddJob("a", 1, 1, 1);
  runtime_.AddJob("b", 1, 1, 1);
  runtime_.pending_nodes["n1"] = runtime_.pending_nodes["n2"] = "QOSMaxGRESPerUser";
  Serve();
  port_->WaitForChange(0);
  Decide({{"a", 1}});
  LookUntil("it to be taken back", [&] { return JobOf("a").running < 0; });
  EXPECT_TRUE(Avoided("a").empty());
  EXPECT_TRUE(cluster_->pending().BacksOff(JobOf("a")));
  EXPECT_TRUE(cluster_->pending().BacksOff(JobOf("b"))) << "it would do no better";
  EXPECT_TRUE(ReasonOf("b").starts_with("the cluster started no job of user")) << ReasonOf("b");
  EXPECT_EQ(ReasonOf("a"), "pending: QOSMaxGRESPerUser");
  time_.Pass(PendingPlacements::kFirstBackOff);
  ASSERT_TRUE(port_->WaitForChange(0));
  EXPECT_EQ(port_->Observe().rows(), 2) << "they are tried again";
}

TEST_F(PendingPlacementsTest, ARefusedStartIsTakenBackAndItsJobRests) {
  runtime_.AddJob("a", 2, 2, 2);
  Serve();
  port_->WaitForChange(0);
  runtime_.refuse_starts = 1000;
  Decide({{"a", 2}});
  Look();
  EXPECT_EQ(ReasonOf("a"), "no");
  LookUntil("it to be taken back", [&] { return JobOf("a").running < 0; });
  EXPECT_TRUE(Avoided("a").empty()) << "no node is to blame";
  EXPECT_TRUE(cluster_->pending().BacksOff(JobOf("a")));
}

TEST_F(PendingPlacementsTest, AJobThatBeginsNowhereRests) {
  runtime_.AddJob("a", 1, 1, 1);
  runtime_.AddJob("b", 1, 1, 1);
  runtime_.pending_nodes["n1"] = runtime_.pending_nodes["n2"] = "Resources";
  Serve();
  port_->WaitForChange(0);
  for (int tries = 0; tries < PendingPlacements::kTries; ++tries) {
    if (tries > 0) time_.Pass(PendingPlacements::kAvoidFor);
    ASSERT_TRUE(port_->WaitForChange(0));
    Decide({{"a", 1}});
    LookUntil("it to be taken back", [&] { return JobOf("a").running < 0; });
  }
  ASSERT_TRUE(port_->WaitForChange(0));
  EXPECT_EQ(port_->Observe().rows(), 1) << "others are decided for";
  EXPECT_EQ(ReasonOf("a"), "pending: Resources");
  time_.Pass(PendingPlacements::kFirstBackOff);
  ASSERT_TRUE(port_->WaitForChange(0));
  EXPECT_EQ(port_->Observe().rows(), 2) << "it is tried again";
}

}  // namespace
}  // namespace allot
