// Jobs that may not begin now: nothing is asked for, and people are told why.

#include "tests/unit/live/live_cluster_fixture.h"

namespace allot {
namespace {

using LiveJobTest = LiveClusterFixture;

TEST_F(LiveJobTest, AHeldJobIsCalledHeldOnceItsWorkersHaveLeft) {
  runtime_.AddJob("a", 2, 1, 4);
  Serve();
  ASSERT_TRUE(cluster_->WaitForJobs());
  Decide({{"a", 2}});
  Until("training", [&] { return Trains("a", 2); });
  runtime_.jobs.at("a").job.state = JobState::kHeld;
  Look();
  EXPECT_EQ(JobOf("a").stage(), "stopping");
  for (int look = 0; look < 5; ++look) Look();
  EXPECT_EQ(JobOf("a").stage(), "held");
  runtime_.jobs.at("a").job.state = JobState::kActive;
  Look();
  EXPECT_EQ(JobOf("a").stage(), "waiting");
}

TEST_F(LiveJobTest, AJobThatWasStoppedAMomentAgoIsNotStartedAndNothingIsRefused) {
  runtime_.AddJob("a", 2, 2, 2, ResizeMode::kRestart).settling = true;
  Serve();
  ASSERT_TRUE(cluster_->WaitForJobs());
  Decide({{"a", 2}});
  for (int look = 0; look < 5; ++look) Look();
  EXPECT_EQ(runtime_.Alive("a"), 0);
  EXPECT_EQ(JournalEnd().find("refused"), std::string::npos) << JournalEnd();
  runtime_.jobs.at("a").job.settling = false;
  Look();
  EXPECT_EQ(runtime_.Alive("a"), 1);
}

}  // namespace
}  // namespace allot
