// Nodes that jobs are to leave: what each is called, and that one which was drained is no failure.

#include "core/file.h"
#include "live/daemon/daemon.h"
#include "live/daemon/daemon_metrics.h"
#include "tests/unit/live/live_cluster_fixture.h"

namespace allot {
namespace {

class AwayNodesTest : public LiveClusterFixture {
 protected:
  void TrainOnBoth() {
    runtime_.AddJob("a", 8, 1, 8);
    ServeAndTrain({{"a", 8}});
  }
  // The reason of the record that took n2 from the job.
  std::string Why() {
    Look();
    EXPECT_EQ(JobOf("a").given(), 4) << "n2 is left";
    return LastWhy();
  }
  std::string LastWhy() const {
    const std::string journal = ReadTextFile((folder_ / "journal.jsonl").string());
    const std::size_t at = journal.rfind("\"why\":\"a node of it is ");
    return at == std::string::npos ? ""
                                   : journal.substr(at + 7, journal.find('"', at + 7) - at - 7);
  }
  bool Counted(const std::string& state) const {
    return MetricsText(*cluster_, {}).find("allot_nodes{state=\"" + state + "\"} 1") !=
           std::string::npos;
  }
};

TEST_F(AwayNodesTest, OneThatIsDownIsAFailure) {
  TrainOnBoth();
  runtime_.nodes[1].state = NodeState::kDown;
  EXPECT_EQ(Why(), "a node of it is down");
  EXPECT_EQ(JobOf("a").record.failures, 1);
  EXPECT_TRUE(Counted("down"));
}

TEST_F(AwayNodesTest, OneThatIsDrainedHereIsNone) {
  TrainOnBoth();
  cluster_->DrainNode("n2");
  EXPECT_EQ(Why(), "a node of it is drained");
  EXPECT_EQ(JobOf("a").record.failures, 0);
  EXPECT_TRUE(Counted("drained"));
}

TEST_F(AwayNodesTest, OneThatIsDownIsAFailureWhereAnotherIsDrained) {
  TrainOnBoth();
  runtime_.nodes[0].state = NodeState::kDown;
  cluster_->DrainNode("n2");
  Look();
  EXPECT_EQ(LastWhy(), "a node of it is down");
  EXPECT_EQ(JobOf("a").record.failures, 1);
}

TEST_F(AwayNodesTest, OneThatIsDrainedInTheClusterIsCalledSoByTheNextDaemonToo) {
  TrainOnBoth();
  runtime_.nodes[1].state = NodeState::kDrained;
  EXPECT_EQ(Why(), "a node of it is drained");
  EXPECT_EQ(JobOf("a").record.failures, 0);
  Serve();
  EXPECT_TRUE(Counted("drained")) << "before it has looked";
  runtime_.nodes[1].state = NodeState::kDown;
  Look();
  EXPECT_TRUE(Counted("down"));
}

}  // namespace
}  // namespace allot
