// Nodes that lose GPUs, get more, come in another order, or are no longer named.

#include "core/file.h"
#include "tests/unit/live/live_cluster_fixture.h"

namespace allot {
namespace {

class ChangingNodesTest : public LiveClusterFixture {
 protected:
  GpuCount SeenOf(std::size_t node) const {
    return port_->Observe().cluster->nodes()[node].capacity.gpus;
  }
  std::size_t NodeRecords() const {
    const std::string journal = ReadTextFile((folder_ / "journal.jsonl").string());
    std::size_t records = 0;
    for (std::size_t at = 0; (at = journal.find("\"nodes\":[{", at)) != std::string::npos; ++at) {
      ++records;
    }
    return records;
  }
};

TEST_F(ChangingNodesTest, LostGpuStopsNoWorker) {
  runtime_.AddJob("a", 3, 3, 3);
  ServeAndTrain({{"a", 3}});
  runtime_.nodes[0].capacity.gpus = 2;
  Look();
  ASSERT_TRUE(port_->WaitForChange(0));
  EXPECT_TRUE(Trains("a", 3));
  EXPECT_EQ(SeenOf(0), 3) << "the free GPU is not given away";
}

TEST_F(ChangingNodesTest, NothingStartsOnNodeThatLostGpus) {
  runtime_.AddJob("a", 4, 1, 4);
  ServeAndTrain({{"a", 4}});
  runtime_.nodes[0].capacity.gpus = 3;
  Look();
  runtime_.Kill(runtime_.AliveIds("a").front());
  Until("the worker's GPU to be released", [&] { return Trains("a", 3); });
  EXPECT_EQ(JobOf("a").given(), 3);
  runtime_.AddJob("b", 1, 1, 1);
  ASSERT_TRUE(port_->WaitForChange(0));
  TrainOn({{"a", 3}, {"b", 1}});
  EXPECT_EQ(JobOf("b").shares.front().node, 1);
}

TEST_F(ChangingNodesTest, EmptyNodeHasTheGpusThatItShows) {
  runtime_.AddJob("a", 8, 1, 8);
  Serve();
  port_->WaitForChange(0);
  runtime_.nodes[0].capacity.gpus = 3;
  Until("one GPU less", [&] { return SeenOf(0) == 3; });
  runtime_.nodes[0].capacity.gpus = 6;
  Until("two GPUs more", [&] { return SeenOf(0) == 6; });
  TrainOn({{"a", 8}});
  EXPECT_EQ(std::popcount(JobOf("a").shares.front().gpus), 6);
  Serve();
  Look();
  EXPECT_EQ(JobOf("a").given(), 8) << "the next daemon knows these GPUs";
}

TEST_F(ChangingNodesTest, NodeKeepsItsNewType) {
  Serve();
  Look();
  runtime_.nodes[1].gpu_type = "a100";
  Look();
  EXPECT_EQ(cluster_->state().nodes()[1].gpu_type, "a100");
  EXPECT_EQ(cluster_->state().job_table().nominal().types(),
            (std::vector<std::string>{"gpu", "a100"}));
  runtime_.nodes[0].gpu_type = "a100";
  Look();
  EXPECT_EQ(cluster_->state().job_table().nominal().types(),
            (std::vector<std::string>{"gpu", "a100"}))
      << "types keep their indices";
}

TEST_F(ChangingNodesTest, OtherOrderIsNoChange) {
  Serve();
  Look();
  std::swap(runtime_.nodes[0], runtime_.nodes[1]);
  runtime_.Wait(0.1);
  EXPECT_FALSE(cluster_->PollRuntime());
  EXPECT_EQ(NodeRecords(), 1U);
}

TEST_F(ChangingNodesTest, NodeThatIsNoLongerNamedGoesDownOnce) {
  Serve();
  Look();
  runtime_.nodes.erase(runtime_.nodes.begin());
  Look();
  EXPECT_EQ(cluster_->state().StateOf(0), NodeState::kDown);
  runtime_.Wait(0.1);
  EXPECT_FALSE(cluster_->PollRuntime()) << "it asks for no decision at each poll";
  EXPECT_EQ(NodeRecords(), 2U);
}

}  // namespace
}  // namespace allot
