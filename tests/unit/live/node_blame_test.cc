// Nodes that fail workers: they are recognised, avoided and named, and no good job is given up.

#include <nlohmann/json.hpp>
#include <set>

#include "live/daemon/daemon.h"
#include "live/daemon/daemon_metrics.h"
#include "live/daemon/daemon_status.h"
#include "live/screens/status_table.h"
#include "live/state/records_json.h"
#include "tests/unit/live/live_cluster_fixture.h"

namespace allot {
namespace {

class NodeBlameTest : public DaemonTest {
 protected:
  NodeBlameTest() {
    options_.interval = 10;
    options_.until_idle = true;
    runtime_.on_wait = [this] { FailAndFinish(); };
  }

  void AddNodes(int nodes, GpuCount gpus) {
    for (int n = 1; n <= nodes; ++n) runtime_.AddNode("n" + std::to_string(n), gpus);
  }
  // The jobs of four users.
  void AddJobs(int jobs, ResizeMode mode) {
    for (int j = 0; j < jobs; ++j) {
      runtime_.AddJob("j" + std::to_string(j), 1, 1, 1, mode).user = "u" + std::to_string(j % 4);
    }
  }
  // Workers on a bad node and of a broken job fail as they have come up; others finish in a while.
  void FailAndFinish() {
    std::vector<std::string> fail;
    for (const auto& [id, worker] : runtime_.workers) {
      if (worker.seen.state != WorkerState::kReady || worker.stopping) continue;
      if (worker.seen.node == bad_node_ || broken_.contains(worker.seen.job)) fail.push_back(id);
    }
    for (const std::string& id : fail) {
      if (runtime_.workers[id].seen.node == bad_node_ && !Avoided(bad_node_)) ++failures_there_;
      runtime_.Kill(id);
      runtime_.jobs[runtime_.workers[id].seen.job].progress.step = 0;
    }
    for (auto& [id, job] : runtime_.jobs) {
      if (job.job.state == JobState::kActive && job.progress.step >= steps_) runtime_.Finish(id);
    }
  }
  bool Avoided(const std::string& node) const {
    return cluster_->state().suspicion().IsAvoided(node);
  }
  // Running jobs keep what they have, others get the first GPU that is free.
  void Fill() {
    const Observation& o = port_->Observe();
    std::vector<std::uint64_t> free;
    for (const Node& node : o.cluster->nodes()) free.push_back(GpuMask(node.capacity.gpus));
    for (const NodeShare& share : o.shares) free[std::size_t(share.node)] &= ~share.gpus;
    Allocation answer;
    for (std::int32_t row = 0; row < o.rows(); ++row) {
      const JobIndex job = o.job[std::size_t(row)];
      if (o.running[std::size_t(row)] >= 0) {
        answer.Add(job, o.running[std::size_t(row)], o.shares_of(row));
        continue;
      }
      const auto node = std::find_if(free.begin(), free.end(), [](auto mask) { return mask != 0; });
      if (node == free.end()) continue;
      const NodeShare share{NodeIndex(node - free.begin()), UnitCounts(1), *node & -*node};
      *node &= *node - 1;
      answer.Add(job, o.requested[std::size_t(row)], {{share}});
    }
    const ApplyReport report = port_->Apply(answer);
    EXPECT_TRUE(report.refused.ok()) << report.refused.message();
  }
  // Until all jobs are over.
  void Run() {
    Serve();
    for (int decisions = 0; port_->WaitForChange(0); ++decisions) {
      ASSERT_LT(decisions, 5000) << "jobs are left";
      Fill();
    }
  }
  int Ended(JobState state) const {
    int jobs = 0;
    for (const auto& [id, job] : runtime_.jobs) jobs += job.job.state == state ? 1 : 0;
    return jobs;
  }

  std::string bad_node_;
  std::set<std::string> broken_;
  std::int64_t steps_ = 5;
  int failures_there_ = 0;  // before it was avoided
};

class NodeBlameInEachMode : public NodeBlameTest, public testing::WithParamInterface<ResizeMode> {};
INSTANTIATE_TEST_SUITE_P(Modes, NodeBlameInEachMode,
                         testing::Values(ResizeMode::kHot, ResizeMode::kRestart));

TEST_P(NodeBlameInEachMode, BadNodeIsAvoidedAndGoodJobsFinish) {
  AddNodes(8, 2);
  AddJobs(40, GetParam());
  bad_node_ = "n3";
  broken_ = {"j3", "j11", "j17", "j22", "j38"};
  Run();
  EXPECT_EQ(Ended(JobState::kFinished), 35);
  EXPECT_EQ(Ended(JobState::kFailed), 5) << "broken jobs are given up";
  EXPECT_TRUE(Avoided("n3"));
  EXPECT_LE(failures_there_, 7);
  EXPECT_EQ(cluster_->counts().nodes_avoided, 1) << "no other node";
}

TEST_P(NodeBlameInEachMode, BrokenJobsBlameNoNode) {
  AddNodes(8, 2);
  AddJobs(10, GetParam());
  for (const auto& [id, job] : runtime_.jobs) broken_.insert(id);
  Run();
  EXPECT_EQ(Ended(JobState::kFailed), 10);
  EXPECT_EQ(cluster_->counts().nodes_avoided, 0);
}

TEST_P(NodeBlameInEachMode, LoneJobIsTriedOnAnotherNode) {
  AddNodes(2, 1);
  AddJobs(1, GetParam());
  bad_node_ = "n1";
  Run();
  EXPECT_EQ(Ended(JobState::kFinished), 1);
  EXPECT_EQ(failures_there_, 1);
}

TEST_P(NodeBlameInEachMode, JobWaitsForAnotherNodeAndIsNotTriedOnTheSame) {
  AddNodes(2, 1);
  AddJobs(2, GetParam());
  bad_node_ = "n1";
  steps_ = 600;  // a minute: all tries on n1 would be over
  Run();
  EXPECT_EQ(Ended(JobState::kFinished), 2);
  EXPECT_EQ(failures_there_, 1);
  EXPECT_LT(cluster_->now(), 140) << "it starts as the other node is free";
}

TEST_P(NodeBlameInEachMode, JobIsGivenUpWhereThereIsNoOtherNode) {
  AddNodes(1, 1);
  AddJobs(1, GetParam());
  bad_node_ = "n1";
  Run();
  EXPECT_EQ(Ended(JobState::kFailed), 1);
  EXPECT_EQ(failures_there_, 6) << "most_failures";
}

// As Slurm ends restart jobs that nobody may requeue: the daemon hears of no worker that failed.
TEST_F(NodeBlameTest, JobsThatTheRuntimeEndsAsFailedAccuseTheirNode) {
  AddNodes(8, 2);
  AddJobs(40, ResizeMode::kRestart);
  for (auto& [id, job] : runtime_.jobs) job.job.user = "user of " + id;
  std::set<std::string> ended_there;
  runtime_.on_wait = [&] {
    for (const auto& [id, worker] : runtime_.workers) {
      const bool runs = worker.seen.state == WorkerState::kReady && !worker.stopping;
      if (!runs || worker.seen.node != "n3" || ended_there.contains(worker.seen.job)) continue;
      EXPECT_FALSE(Avoided("n3"));
      ended_there.insert(worker.seen.job);
    }
    for (const std::string& job : ended_there) runtime_.EndAsFailed(job);
    FailAndFinish();
  };
  Run();
  EXPECT_TRUE(Avoided("n3"));
  EXPECT_LE(ended_there.size(), 9U) << "seven failures, and those that ran there already";
  EXPECT_EQ(cluster_->counts().nodes_avoided, 1);
}

class AvoidedNodeTest : public LiveClusterFixture {
 protected:
  void SetRule(const std::string& then) {
    options_.job_table.rules = std::make_shared<OperatorRules>(
        OperatorRules::Parse("fair_share = false\n[failures]\nthen = \"" + then + "\"\n", "rules"));
  }
  // Jobs of several users fail on n1, each at its first start.
  void MakeN1Suspect() {
    for (int j = 0; j < 9; ++j) {
      runtime_.AddJob("j" + std::to_string(j), 1, 1, 1).user = "u" + std::to_string(j);
    }
    Serve();
    for (int j = 0; j < 9 && !Avoided(); ++j) {
      const std::string id = "j" + std::to_string(j);
      ASSERT_TRUE(port_->WaitForChange(0));
      Decide({{id, 1}});
      Look();
      ASSERT_EQ(runtime_.Alive(id), 1);
      runtime_.Kill(runtime_.AliveIds(id).front());
      Look();
      Look();
    }
  }
  bool Avoided() const { return cluster_->state().suspicion().IsAvoided("n1"); }
  DaemonStatus Status() const { return MakeStatus(*cluster_, {}, {}, {}); }
};

TEST_F(AvoidedNodeTest, IsNamedInStatusAndMetrics) {
  MakeN1Suspect();
  ASSERT_TRUE(Avoided());
  const NodeStatus node = Status().nodes.at(0);
  EXPECT_EQ(node.state, NodeState::kAvoided);
  EXPECT_TRUE(node.why->starts_with("j0, j1, ")) << *node.why;
  EXPECT_NE(StatusText(Status()).find("n1 avoided (j0, j1, "), std::string::npos);
  const std::string metrics = MetricsText(*cluster_, {});
  EXPECT_NE(metrics.find("allot_nodes{state=\"avoided\"} 1"), std::string::npos);
  EXPECT_NE(metrics.find("allot_node_suspicion{node=\"n1\"} 0.99"), std::string::npos);
  EXPECT_NE(metrics.find("allot_nodes_avoided_total 1"), std::string::npos);
}

TEST_F(AvoidedNodeTest, IsAvoidedByTheNextDaemonToo) {
  MakeN1Suspect();
  const double odds = cluster_->state().suspicion().OddsOf("n1", cluster_->now());
  Serve();
  EXPECT_TRUE(Avoided());
  EXPECT_NEAR(cluster_->state().suspicion().OddsOf("n1", cluster_->now()), odds, odds / 100);
}

TEST_F(AvoidedNodeTest, IsKeptByRenewedJournal) {
  MakeN1Suspect();
  LiveState renewed{JobTable::Options{}};
  cluster_->state().ForEachRecord(cluster_->origin(), cluster_->now(), [&](const TimedRecord& one) {
    renewed.Apply(RecordFrom(ToJson(one)));
  });
  EXPECT_TRUE(renewed.suspicion().IsAvoided("n1"));
  EXPECT_DOUBLE_EQ(renewed.suspicion().OddsOf("n1", cluster_->now()),
                   cluster_->state().suspicion().OddsOf("n1", cluster_->now()));
  EXPECT_EQ(renewed.suspicion().FailedNodesOf("j1", cluster_->now()),
            std::vector<std::string>{"n1"});
}

TEST_F(AvoidedNodeTest, StartsNothing) {
  MakeN1Suspect();
  runtime_.AddJob("new", 4, 1, 8);
  ASSERT_TRUE(port_->WaitForChange(0));
  Decide({{"new", 4}});
  EXPECT_EQ(JobOf("new").shares.front().node, 1);
}

TEST_F(AvoidedNodeTest, KeepsJobsThatRunThere) {
  runtime_.AddJob("a", 1, 1, 1).user = "z";
  ServeAndTrain({{"a", 1}});
  for (int look = 0; look < 3; ++look) Look();
  for (int j = 0; j < 9 && !Avoided(); ++j) {
    const std::string id = "j" + std::to_string(j);
    runtime_.AddJob(id, 1, 1, 1).user = "u" + std::to_string(j);
    ASSERT_TRUE(port_->WaitForChange(0));
    Decide({{"a", 1}, {id, 1}});
    Look();
    runtime_.Kill(runtime_.AliveIds(id).front());
    Look();
    Look();
  }
  ASSERT_TRUE(Avoided());
  EXPECT_TRUE(Trains("a", 1));
  EXPECT_EQ(JobOf("a").shares.front().node, 0);
}

TEST_F(AvoidedNodeTest, IsOnlyNamedWhereTheRuleIsToTell) {
  SetRule("tell");
  MakeN1Suspect();
  EXPECT_FALSE(Avoided());
  EXPECT_EQ(Status().nodes.at(0).state, NodeState::kUp);
  EXPECT_EQ(Status().nodes.at(0).suspicion->jobs.size(), 9U);
  EXPECT_GT(Status().nodes.at(0).suspicion->odds, 99);
}

TEST_F(AvoidedNodeTest, IsDrainedWhereTheRuleSaysSo) {
  SetRule("drain");
  MakeN1Suspect();
  EXPECT_EQ(Status().nodes.at(0).state, NodeState::kDrained);
  EXPECT_EQ(Status().nodes.at(0).drained_by, Drainer::kAllot);
  time_.Pass(NodeSuspicion::kAvoidFirst);
  Look();
  EXPECT_EQ(Status().nodes.at(0).state, NodeState::kDrained) << "until its operator says otherwise";
  cluster_->UndrainNode("n1");
  Look();
  EXPECT_EQ(Status().nodes.at(0).state, NodeState::kUp);
}

TEST_F(AvoidedNodeTest, IsUsedAgainAfterItsTime) {
  MakeN1Suspect();
  time_.Pass(NodeSuspicion::kAvoidFirst);
  Look();
  EXPECT_FALSE(Avoided());
  EXPECT_EQ(cluster_->state().StateOf(0), NodeState::kUp);
}

TEST_F(AvoidedNodeTest, IsUsedAgainWhenItsOperatorSaysSo) {
  MakeN1Suspect();
  cluster_->UndrainNode("n1");
  EXPECT_FALSE(Avoided());
}

TEST_F(AvoidedNodeTest, ExcusesTheFailuresOfItsJobs) {
  MakeN1Suspect();
  EXPECT_EQ(JobOf("j0").worker_group.past().backoff.failures, 0);
}

TEST_F(AvoidedNodeTest, LateWorkersAccuseTheirNode) {
  runtime_.AddJob("a", 1, 1, 1);
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  Decide({{"a", 1}});
  runtime_.slow.insert("a.0");
  Look();
  time_.Pass(130);
  Look();
  Look();
  EXPECT_EQ(cluster_->state().suspicion().AccusersOf("n1"), std::vector<std::string>{"a"});
  EXPECT_LT(JobOf("a").running, 0) << "it is tried on another node";
}

}  // namespace
}  // namespace allot
