// Jobs that their users correct while they are held.

#include "tests/unit/live/live_cluster_fixture.h"

namespace allot {
namespace {

class AskedAnewTest : public LiveClusterFixture {
 protected:
  void Correct(const std::string& id, GpuCount most) {
    RuntimeJob& job = runtime_.jobs.at(id).job;
    job.requested = job.max_gpus = most;
    job.state = JobState::kActive;
    job.reason.clear();
  }
};

TEST_F(AskedAnewTest, WhatCouldNotBeUnderstoodBefore) {
  RuntimeJob& wrong = runtime_.AddJob("a", 1, 1, 1);
  wrong.state = JobState::kHeld;
  wrong.reason = "max must be at least min";
  runtime_.AddJob("b", 1, 1, 1);
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  EXPECT_EQ(port_->Observe().rows(), 1);
  Correct("a", 4);
  Until("both to be shown", [&] { return port_->Observe().rows() == 2; });
  EXPECT_EQ(JobOf("a").asked->max_gpus, 4);
  TrainOn({{"a", 4}});
  Serve();
  EXPECT_EQ(JobOf("a").asked->max_gpus, 4) << "the next daemon reads it so";
}

TEST_F(AskedAnewTest, WhatAPolicyHasSeenBeforeItWasHeld) {
  runtime_.AddJob("a", 2, 1, 2);
  runtime_.AddJob("b", 1, 1, 1);
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  EXPECT_EQ(port_->Observe().rows(), 2);
  runtime_.jobs.at("a").job.state = JobState::kHeld;
  Until("to be held", [&] { return port_->Observe().rows() == 1; });
  Correct("a", 4);
  Until("both to be shown", [&] { return port_->Observe().rows() == 2; });
  TrainOn({{"a", 4}});
}

TEST_F(AskedAnewTest, AnyOfItsOptions) {
  RuntimeJob& held = runtime_.AddJob("a", 1, 1, 1);
  held.state = JobState::kHeld;
  runtime_.AddJob("b", 1, 1, 1);
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  Correct("a", 1);
  runtime_.jobs.at("a").job.grace = 60;
  Until("both to be shown", [&] { return port_->Observe().rows() == 2; });
  EXPECT_EQ(JobOf("a").asked->grace, 60);
}

TEST_F(AskedAnewTest, WhoRanGoesOnAsBefore) {
  runtime_.AddJob("a", 2, 1, 2);
  ServeAndTrain({{"a", 2}});
  const JobIndex index = JobOf("a").index;
  runtime_.jobs.at("a").job.state = JobState::kHeld;
  for (int looks = 0; looks < 1000 && !JobOf("a").worker_group.idle(); ++looks) Look();
  runtime_.jobs.at("a").job.state = JobState::kActive;
  ASSERT_TRUE(port_->WaitForChange(0));
  EXPECT_EQ(port_->Observe().rows(), 1);
  EXPECT_EQ(JobOf("a").index, index) << "nothing that was asked has changed";
}

}  // namespace
}  // namespace allot
