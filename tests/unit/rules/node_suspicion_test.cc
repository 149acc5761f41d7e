#include "rules/node_suspicion.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace allot {
namespace {

using Names = std::vector<std::string>;

class NodeSuspicionTest : public testing::Test {
 protected:
  void Fail(const std::string& job, const Names& nodes, const std::string& user = "") {
    suspicion_.Fail(job, user.empty() ? "user of " + job : user, nodes, now_ += 60);
  }
  void Succeed(const std::string& job, const Names& nodes, const std::string& user = "") {
    suspicion_.Succeed(job, user.empty() ? "user of " + job : user, nodes, now_ += 60);
  }
  double Odds(const std::string& node) const { return suspicion_.OddsOf(node, now_); }
  // How many more jobs must fail on the node until it is suspect.
  int FailuresNeeded(const std::string& node) {
    for (int failures = 1; failures < 30; ++failures) {
      Fail("needed" + std::to_string(failures), {node});
      if (!suspicion_.FindSuspects(64, now_).empty()) return failures;
    }
    return 30;
  }
  NodeSuspicion suspicion_;
  Seconds now_ = 0;
};

TEST_F(NodeSuspicionTest, DistinctJobsOfUnknownUsersMakeNodeSuspect) {
  EXPECT_EQ(FailuresNeeded("n1"), 7);
}

TEST_F(NodeSuspicionTest, JobsThatRunElsewhereNeedFewer) {
  for (const std::string job : {"a", "b", "c"}) {
    Fail(job, {"n1"});
    EXPECT_TRUE(suspicion_.FindSuspects(64, now_).empty()) << job;
    Succeed(job, {"n2"});
  }
  ASSERT_EQ(suspicion_.FindSuspects(64, now_).size(), 1U);
  EXPECT_EQ(suspicion_.FindSuspects(64, now_)[0].name, "n1");
  EXPECT_EQ(suspicion_.FindSuspects(64, now_)[0].jobs, (Names{"a", "b", "c"}));
}

TEST_F(NodeSuspicionTest, OneJobIsOneAccuserHoweverOftenItFails) {
  Fail("a", {"n1"});
  const double once = Odds("n1");
  for (int more = 0; more < 10; ++more) Fail("a", {"n1"});
  EXPECT_DOUBLE_EQ(Odds("n1"), once);
}

TEST_F(NodeSuspicionTest, BrokenJobBlamesNoNode) {
  for (const std::string node : {"n1", "n2", "n3", "n4", "n5", "n6"}) Fail("a", {node});
  for (const std::string node : {"n1", "n2", "n3", "n4", "n5", "n6"}) {
    EXPECT_LT(Odds(node), 0.002) << node;
  }
}

TEST_F(NodeSuspicionTest, BrokenJobsOfOneUserBlameNoNode) {
  for (int job = 0; job < 12; ++job) {
    const std::string name = "j" + std::to_string(job);
    Fail(name, {"n1"}, "eve");
    Fail(name, {"n2"}, "eve");
    Fail(name, {"n3"}, "eve");
    suspicion_.EndJob(name, true, now_);
  }
  EXPECT_TRUE(suspicion_.FindSuspects(64, now_).empty());
  EXPECT_LT(Odds("n1"), 0.1);
}

TEST_F(NodeSuspicionTest, JobsThatEndAtTheirFirstFailureAreJudgedByTheirUser) {
  for (int job = 0; job < 12; ++job) {
    const std::string name = "j" + std::to_string(job);
    Fail(name, {"n1"}, "eve");
    suspicion_.EndJob(name, true, now_);
  }
  EXPECT_TRUE(suspicion_.FindSuspects(64, now_).empty());
}

// Slurm ends them itself.
TEST_F(NodeSuspicionTest, JobsThatEndAtTheirFirstFailureAccuseByTheirUsers) {
  for (int job = 0; job < 7; ++job) {
    EXPECT_TRUE(suspicion_.FindSuspects(64, now_).empty()) << job;
    const std::string name = "j" + std::to_string(job);
    Fail(name, {"n1"});
    suspicion_.EndJob(name, true, now_);
  }
  EXPECT_EQ(suspicion_.FindSuspects(64, now_).size(), 1U);
}

TEST_F(NodeSuspicionTest, FailuresOnAvoidedNodesDoNotCountForUsers) {
  Fail("before", {"n1"}, "ann");
  suspicion_.EndJob("before", true, now_);
  EXPECT_DOUBLE_EQ(suspicion_.users().at("ann").broken, 1);
  suspicion_.Avoid("n1", 1e6);
  EXPECT_DOUBLE_EQ(suspicion_.users().at("ann").broken, 0) << "the node was bad";
  Fail("after", {"n1"}, "bob");
  suspicion_.EndJob("after", true, now_);
  EXPECT_FALSE(suspicion_.users().contains("bob"));
}

TEST_F(NodeSuspicionTest, SuccessClearsNode) {
  for (const std::string job : {"a", "b", "c", "d", "e", "f"}) Fail(job, {"n1"});
  Succeed("g", {"n1"});
  EXPECT_TRUE(suspicion_.nodes().empty()) << "as if nothing had ever been";
  EXPECT_EQ(FailuresNeeded("n1"), 7);
}

TEST_F(NodeSuspicionTest, GangAccusesItsNodesLessThanOneNode) {
  Fail("a", {"n1"});
  Fail("b", {"n2", "n3"});
  EXPECT_GE(Odds("n1"), Odds("n2"));
  EXPECT_DOUBLE_EQ(Odds("n2"), Odds("n3"));
}

TEST_F(NodeSuspicionTest, NodesThatFailTogetherAreOneTrial) {
  const Names first = {"n1"}, second = {"n2"};
  suspicion_.Fail("a", "user", first, 10);
  suspicion_.Fail("a", "user", second, 10.1, true);
  ASSERT_EQ(suspicion_.jobs().at("a").trials.size(), 1U);
  EXPECT_EQ(suspicion_.jobs().at("a").trials[0].nodes, (Names{"n1", "n2"}));
  EXPECT_EQ(suspicion_.jobs().at("a").trials[0].failures, 1);
}

TEST_F(NodeSuspicionTest, AvoidedNodeIsNoEvidenceAgainstJobs) {
  suspicion_.Avoid("n1", 1e6);
  Fail("a", {"n1"});
  Fail("a", {"n2"});
  const double with_excuse = Odds("n2");
  NodeSuspicion without;
  const Names n2 = {"n2"};
  without.Fail("a", "user of a", n2, now_);
  EXPECT_GT(with_excuse, 0.8 * without.OddsOf("n2", now_));
}

TEST_F(NodeSuspicionTest, ReadmittedNodeIsOnProbation) {
  ASSERT_EQ(FailuresNeeded("n1"), 7);
  const SuspectNode suspect = suspicion_.FindSuspects(64, now_)[0];
  EXPECT_EQ(suspect.until, now_ + NodeSuspicion::kAvoidFirst);
  suspicion_.Avoid("n1", suspect.until);
  EXPECT_TRUE(suspicion_.IsAvoided("n1"));
  EXPECT_TRUE(suspicion_.FindSuspects(64, now_).empty()) << "it is avoided already";
  now_ = suspect.until;
  suspicion_.Readmit("n1");
  EXPECT_FALSE(suspicion_.IsAvoided("n1"));
  EXPECT_LE(FailuresNeeded("n1"), 4);
  EXPECT_EQ(suspicion_.FindSuspects(64, now_)[0].until, now_ + 2 * NodeSuspicion::kAvoidFirst)
      << "for longer each time";
}

TEST_F(NodeSuspicionTest, RepairedNodeIsOnProbation) {
  suspicion_.Repair("n1");
  EXPECT_LT(FailuresNeeded("n1"), 7);
}

TEST_F(NodeSuspicionTest, FewNodesAreAvoidedAtOnce) {
  for (const std::string node : {"n1", "n2", "n3"}) {
    for (int job = 0; job < 10; ++job) Fail(node + " " + std::to_string(job), {node});
  }
  EXPECT_EQ(suspicion_.FindSuspects(40, now_).size(), 2U) << "5 % of 40";
  EXPECT_EQ(suspicion_.FindSuspects(8, now_).size(), 1U) << "one at least";
  EXPECT_EQ(suspicion_.FindSuspects(1, now_).size(), 0U) << "never all";
  EXPECT_EQ(suspicion_.FindSuspects(3, now_, {.at_most = 1}).size(), 2U) << "never all";
  suspicion_.Avoid("n1", 1e6);
  EXPECT_EQ(suspicion_.FindSuspects(40, now_).size(), 1U) << "one is avoided already";
}

TEST_F(NodeSuspicionTest, LowerChanceNeedsFewerFailures) {
  for (const std::string job : {"a", "b", "c", "d", "e"}) Fail(job, {"n1"});
  EXPECT_TRUE(suspicion_.FindSuspects(64, now_).empty());
  EXPECT_EQ(suspicion_.FindSuspects(64, now_, {.suspect = 0.8}).size(), 1U);
}

TEST_F(NodeSuspicionTest, JobLeavesNodeThatFailedItsFirstStart) {
  Fail("a", {"n1"});
  EXPECT_EQ(suspicion_.FailedNodesOf("a", now_), Names{"n1"});
  EXPECT_TRUE(suspicion_.FailedNodesOf("b", now_).empty());
  EXPECT_TRUE(suspicion_.FailedNodesOf("a", now_ + NodeSuspicion::kRetryElsewhere).empty());
}

TEST_F(NodeSuspicionTest, JobThatRanThereTriesOnceMore) {
  Succeed("a", {"n1", "n2"});
  Fail("a", {"n1"});
  EXPECT_TRUE(suspicion_.FailedNodesOf("a", now_).empty());
  Fail("a", {"n1"});
  EXPECT_EQ(suspicion_.FailedNodesOf("a", now_), Names{"n1"});
  Succeed("a", {"n1", "n2"});
  EXPECT_TRUE(suspicion_.FailedNodesOf("a", now_).empty());
}

TEST_F(NodeSuspicionTest, OverJobsAreKeptOnlyWhileTheyAccuse) {
  Fail("a", {"n1"});
  suspicion_.EndJob("a", false, now_);
  EXPECT_EQ(suspicion_.jobs().size(), 1U);
  Succeed("b", {"n1"});
  suspicion_.EndJob("b", false, now_);
  EXPECT_TRUE(suspicion_.jobs().empty());
}

}  // namespace
}  // namespace allot
