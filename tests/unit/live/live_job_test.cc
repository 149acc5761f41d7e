// Jobs that may not begin now: nothing is asked for, and people are told why.

#include "tests/unit/live/live_cluster_fixture.h"

namespace allot {
namespace {

using LiveJobTest = LiveClusterFixture;

TEST_F(LiveJobTest, AHeldJobIsCalledHeldOnceItsWorkersHaveLeft) {
  runtime_.AddJob("a", 2, 1, 4);
  ServeAndTrain({{"a", 2}});
  runtime_.jobs.at("a").job.state = JobState::kHeld;
  Look();
  EXPECT_EQ(JobOf("a").stage(), JobStage::kStopping);
  for (int look = 0; look < 5; ++look) Look();
  EXPECT_EQ(JobOf("a").stage(), JobStage::kHeld);
  runtime_.jobs.at("a").job.state = JobState::kActive;
  Look();
  EXPECT_EQ(JobOf("a").stage(), JobStage::kWaiting);
}

TEST_F(LiveJobTest, TheUserOfAJobThatFitsNowhereIsToldWhyUntilItFits) {
  runtime_.AddJob("large", 9, 9, 9).known_as = "team/large";
  runtime_.AddJob("small", 1, 1, 4);
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  EXPECT_EQ(JobOf("large").stage(), JobStage::kFitsNowhere);
  EXPECT_EQ(JobOf("large").unfit,
            "a job must fit the cluster: job 'team/large' asks for 9 GPUs, the largest GPU type "
            "'gpu' has 8")
      << "in its user's words, without options of simulations";
  EXPECT_EQ(runtime_.explained.at("large"), *JobOf("large").unfit);
  EXPECT_EQ(runtime_.explained.at("small"), "");
  runtime_.explained.clear();
  Look();
  EXPECT_TRUE(runtime_.explained.empty()) << "once";
  runtime_.AddNode("n3", 4);
  Look();
  Look();
  EXPECT_EQ(runtime_.explained.at("large"), "");
  EXPECT_EQ(JobOf("large").stage(), JobStage::kWaiting);
}

TEST_F(LiveJobTest, AJobThatWasStoppedAMomentAgoIsNotStartedAndNothingIsRefused) {
  runtime_.AddJob("a", 2, 2, 2, ResizeMode::kRestart).settling = true;
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
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
