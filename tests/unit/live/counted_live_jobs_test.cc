// Jobs of which only the number of workers is the daemon's (ResizeMode::kCount).

#include <gtest/gtest.h>

#include "tests/unit/live/live_cluster_fixture.h"

namespace allot {
namespace {

class CountedLiveJobsTest : public LiveClusterFixture {};

TEST_F(CountedLiveJobsTest, AJobByCountHoldsWhatItsWorkersReallyHave) {
  runtime_.AddJob("a", 2, 1, 4, ResizeMode::kCount);
  Serve();
  port_->WaitForChange(0);
  Decide({{"a", 2}});
  // The cluster places one of them on the other node.
  runtime_.workers.at("a.1").seen.node = "n2";
  Until("it holds both", [&] { return JobOf("a").shares.size() == 2; });
  EXPECT_EQ(JobOf("a").changes, 1) << "no decision moved it";
  Until("training", [&] { return JobOf("a").worker_group.training(JobOf("a").progress); });
  EXPECT_EQ(runtime_.Alive("a"), 2) << "nobody is moved back";
  Serve();
  port_->WaitForChange(0);
  EXPECT_EQ(JobOf("a").shares.size(), 2U) << "the journal keeps it";
}

TEST_F(CountedLiveJobsTest, WhatPodsOfOthersTakeIsGivenUpByThoseThatWerePromisedIt) {
  runtime_.AddJob("a", 4, 1, 4, ResizeMode::kCount);
  runtime_.AddJob("b", 4, 1, 4);
  Serve();
  port_->WaitForChange(0);
  Decide({{"a", 4}});
  Until("a runs", [&] { return runtime_.Alive("a") == 4; });
  port_->WaitForChange(0);
  runtime_.refuse_starts = 1;  // b waits
  Decide({{"a", 4}, {"b", 4}});
  EXPECT_EQ(JobOf("b").shares.front().node, 1);
  RuntimeWorker& moved = runtime_.workers.at(runtime_.AliveIds("a").front()).seen;
  moved.node = "n2";
  moved.gpus = 1;
  Until("b has one less", [&] { return JobOf("b").shares.front().gpus == 0b1110; });
  EXPECT_EQ(JobOf("a").shares.size(), 2U);
}

TEST_F(CountedLiveJobsTest, AJobByCountShrinksByItsLatestAndKeepsWhatIsReplaced) {
  runtime_.AddJob("a", 4, 1, 4, ResizeMode::kCount);
  Serve();
  port_->WaitForChange(0);
  Decide({{"a", 3}});
  const auto trains = [&] { return JobOf("a").worker_group.training(JobOf("a").progress); };
  Until("training", trains);
  runtime_.slow.insert("a.0");  // its pod was lost
  runtime_.workers.at("a.0").seen.state = WorkerState::kStarting;
  Look();
  EXPECT_FALSE(trains());
  EXPECT_EQ(runtime_.Alive("a"), 3) << "the runtime replaces it";
  runtime_.slow.clear();
  Until("training again", trains);
  port_->WaitForChange(0);
  Decide({{"a", 2}});
  Until("two", [&] { return runtime_.Alive("a") == 2 && trains(); });
  EXPECT_EQ(runtime_.AliveIds("a"), (std::vector<std::string>{"a.0", "a.1"}));
}

TEST_F(CountedLiveJobsTest, AJobByCountThatRunsAlreadyIsGivenWhatItHas) {
  runtime_.AddJob("a", 2, 1, 4, ResizeMode::kCount);
  for (const char* number : {"0", "1"}) {
    RuntimeWorker worker;
    worker.id = std::string("a.") + number;
    worker.job = "a";
    worker.node = "n2";
    worker.gpus = number[0] == '0' ? 1 : 2;
    runtime_.workers[worker.id].seen = worker;
  }
  Serve();
  port_->WaitForChange(0);
  EXPECT_EQ(runtime_.Alive("a"), 2);
  ASSERT_EQ(JobOf("a").shares.size(), 1U);
  EXPECT_EQ(JobOf("a").shares.front().gpus, 3U);
}

TEST_F(CountedLiveJobsTest, AJobThatEndsHoldsWhatItsLastWorkersHave) {
  runtime_.AddJob("a", 4, 3, 4, ResizeMode::kCount);
  runtime_.AddJob("b", 1, 1, 1);
  Serve();
  port_->WaitForChange(0);
  Decide({{"a", 4}});
  Until("training", [&] { return Trains("a", 4); });
  const auto leave = [&](GpuCount gpus, const std::vector<std::string>& done) {
    RuntimeJob& job = runtime_.jobs.at("a").job;
    job.at_most = {gpus, "no more pods"};
    job.min_gpus = std::max(1, std::min(3, gpus));
    job.reason = std::to_string(gpus);  // it is another record
    for (const std::string& worker : done) {
      runtime_.workers.at(worker).seen.state = WorkerState::kEnded;
    }
    ASSERT_TRUE(port_->WaitForChange(0)) << "GPUs are free";
  };
  leave(2, {"a.0", "a.2"});
  EXPECT_EQ(JobOf("a").given(), 2);
  EXPECT_TRUE(Trains("a", 2));
  EXPECT_EQ(runtime_.Alive("a"), 2) << "nobody replaces those that are done";
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  EXPECT_EQ(JobOf("a").given(), 2) << "the journal keeps it, below the job's least size";
  leave(0, {"a.1", "a.3"});
  EXPECT_EQ(JobOf("a").given(), 0);
  EXPECT_EQ(runtime_.Alive("a"), 0);
}

}  // namespace
}  // namespace allot
