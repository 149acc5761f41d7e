// Jobs that run and may not be stopped: policies see neither them nor their GPUs, and nothing that
// happens around them ends them.

#include <algorithm>

#include "tests/unit/live/live_cluster_fixture.h"

namespace allot {
namespace {

class PinnedJobs : public LiveClusterFixture {
 protected:
  // An ordinary job on the first two GPUs of n1, as Slurm's are; it runs.
  void RunOne() {
    runtime_.AddJob("plain", 2, 2, 2, ResizeMode::kRestart).preempt = false;
    Serve();
    port_->WaitForChange(0);
    Decide({{"plain", 2}});
    LookUntil("it to run", [&] { return Trains("plain", 1); });
  }
  bool Runs() const { return runtime_.AliveIds("plain") == std::vector<std::string>{"plain.0"}; }
  void LookOften() {
    for (int look = 0; look < 300; ++look) Look();  // longer than every patience with a worker
  }
  // As Until, also while there is nothing to decide.
  template <typename Condition>
  void LookUntil(const char* what, const Condition& condition) {
    for (int look = 0; look < 1000; ++look) {
      if (condition()) return;
      Look();
    }
    FAIL() << "never came: " << what << "\n" << JournalEnd();
  }
  // Until a policy is asked, with so many rows.
  void Asked(std::int32_t rows_seen) {
    ASSERT_TRUE(port_->WaitForChange(0));
    EXPECT_EQ(rows(), rows_seen);
  }
  std::int32_t rows() const { return port_->Observe().rows(); }
};

TEST_F(PinnedJobs, APolicySeesWhatTheyLeave) {
  RunOne();
  runtime_.AddJob("elastic", 6, 1, 8);
  Asked(1);
  const ClusterSpec& seen = *port_->Observe().cluster;
  EXPECT_EQ(seen.nodes()[0].capacity.gpus, 2);
  EXPECT_EQ(seen.total().gpus, 6);
  TrainOn({{"elastic", 6}});
  const auto& shares = JobOf("elastic").shares;
  EXPECT_EQ(shares[0].gpus, 0xcU) << "in the machine's own numbers";
  EXPECT_EQ(shares[1].gpus, 0xfU);
  EXPECT_EQ(port_->Observe().shares[0].gpus, 0x3U) << "policies count from 0";
  EXPECT_TRUE(Runs());
}

TEST_F(PinnedJobs, ADrainedNodeKeepsThem) {
  RunOne();
  cluster_->DrainNode("n1");
  LookOften();
  runtime_.nodes[0].state = NodeState::kDown;
  LookOften();
  EXPECT_TRUE(Runs());
}

TEST_F(PinnedJobs, AHoldComesTooLate) {
  RunOne();
  runtime_.jobs.at("plain").job.state = JobState::kHeld;
  LookOften();
  EXPECT_TRUE(Runs());
}

TEST_F(PinnedJobs, ADaemonThatEndsAllJobsLeavesThem) {
  RunOne();
  cluster_->StopAllJobs(30);
  EXPECT_TRUE(Runs());
}

TEST_F(PinnedJobs, ADaemonWithoutAJournalFindsThem) {
  RunOne();
  cluster_.reset();
  journal_.reset();
  std::filesystem::remove(folder_ / "journal.jsonl");
  Serve();
  LookOften();
  EXPECT_TRUE(Runs());
  EXPECT_EQ(JobOf("plain").worker_group.stage(JobOf("plain").progress), JobStage::kTraining);
}

TEST_F(PinnedJobs, OneThatBeganBeforeItsStopReachedItRunsOn) {
  runtime_.AddJob("plain", 2, 2, 2, ResizeMode::kRestart).preempt = false;
  runtime_.AddJob("other", 1, 1, 1);
  runtime_.slow.insert("plain.0");
  Serve();
  port_->WaitForChange(0);
  Decide({{"plain", 2}});
  Asked(2);
  runtime_.slow.clear();
  runtime_.refuse_stops = 1;
  Decide({});
  LookOften();
  EXPECT_TRUE(Runs());
  EXPECT_EQ(JobOf("plain").worker_group.stage(JobOf("plain").progress), JobStage::kTraining);
  Serve();
  LookOften();
  EXPECT_TRUE(Runs()) << "the next daemon reads it so";
}

TEST_F(PinnedJobs, OneThatHasNotBegunMayStillBeMoved) {
  runtime_.AddJob("plain", 2, 2, 2, ResizeMode::kRestart).preempt = false;
  runtime_.AddJob("other", 1, 1, 1);
  runtime_.slow.insert("plain.0");
  Serve();
  port_->WaitForChange(0);
  Decide({{"plain", 2}});
  Asked(2);
  Decide({});
  LookOften();
  EXPECT_TRUE(runtime_.AliveIds("plain").empty());
}

TEST_F(PinnedJobs, TheirEndIsToldWithWhatTheyHeld) {
  RunOne();
  runtime_.AddJob("other", 1, 1, 1);
  Asked(1);
  EXPECT_TRUE(port_->Observe().events.ended.empty()) << "it is hidden, not over";
  runtime_.Finish("plain");
  std::vector<EndedJob> told;
  for (int decision = 0; decision < 3; ++decision) {
    Asked(1);
    const auto& ended = port_->Observe().events.ended;
    told.insert(told.end(), ended.begin(), ended.end());
  }
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].job, JobOf("plain").index);
  EXPECT_DOUBLE_EQ(told[0].gpu_seconds, JobOf("plain").attained_gpu_seconds);
}

TEST_F(PinnedJobs, EndsAreReportedThatCameWhileNoJobWasVisible) {
  runtime_.AddJob("visible", 1, 1, 1);
  ServeAndTrain({{"visible", 1}});
  runtime_.Finish("visible");
  runtime_.AddJob("held", 1, 1, 1).state = JobState::kHeld;
  int polls = 0;
  runtime_.on_wait = [&] {
    if (++polls == 50) runtime_.jobs.at("held").job.state = JobState::kActive;
  };
  ASSERT_TRUE(port_->WaitForChange(0));
  ASSERT_GE(polls, 50);
  ASSERT_EQ(port_->Observe().events.ended.size(), 1U);
  EXPECT_EQ(port_->Observe().events.ended[0].job, JobOf("visible").index);
}

}  // namespace
}  // namespace allot
