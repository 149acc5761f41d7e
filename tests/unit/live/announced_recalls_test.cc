// Nodes that the cluster calls back: policies see it, jobs leave in time, and nothing starts there.

#include "live/port/announced_recalls.h"

#include "live/daemon/daemon_status.h"
#include "tests/unit/live/live_cluster_fixture.h"

namespace allot {
namespace {

constexpr double kHour = 3600;

class AnnouncedRecallsTest : public LiveClusterFixture {
 protected:
  // n2 is called back so long from now.
  void Recall(double in, double until = kNever, bool binds_limits = false) {
    runtime_.nodes.at(1).recall =
        NodeRecall{.from = time_.wall + in, .until = until, .binds_limits = binds_limits};
  }
  NodeState StateOfN2() const { return cluster_->state().StateOf(1); }
};

TEST_F(AnnouncedRecallsTest, WithoutOnesNothingIsLent) {
  runtime_.AddJob("a", 1, 1, 8);
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  EXPECT_FALSE(port_->Observe().lent.has_value());
  EXPECT_TRUE(port_->Observe().guaranteed.empty());
}

TEST_F(AnnouncedRecallsTest, PoliciesSeeWhatIsGuaranteed) {
  Recall(kHour, time_.wall + 3 * kHour);
  runtime_.AddJob("a", 1, 1, 8);
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  const Observation& o = port_->Observe();
  EXPECT_EQ(o.lent, 8);
  ASSERT_EQ(o.guaranteed.size(), static_cast<std::size_t>(kGuaranteeShown / kGuaranteeStep) + 1);
  EXPECT_EQ(o.guaranteed[3], 8) << "jobs leave five minutes before an hour is over";
  EXPECT_EQ(o.guaranteed[4], 4);
  EXPECT_EQ(o.guaranteed[11], 4);
  EXPECT_EQ(o.guaranteed[12], 8) << "it is back";
}

TEST_F(AnnouncedRecallsTest, WindowsOfRulesCountToo) {
  options_.job_table.rules = std::make_shared<const OperatorRules>(
      OperatorRules::Parse("[[maintenance]]\nnodes = \"n2\"\nfrom = \"1970-01-01 02:00:00\"\n"
                           "to = \"1970-01-01 03:00:00\"",
                           "rules.toml"));
  runtime_.AddJob("a", 1, 1, 8);
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  ASSERT_FALSE(port_->Observe().guaranteed.empty());
  const auto step = static_cast<std::size_t>((2 * kHour - time_.wall) / kGuaranteeStep) + 1;
  EXPECT_EQ(port_->Observe().guaranteed[step - 1], 8);
  EXPECT_EQ(port_->Observe().guaranteed[step], 4);
}

TEST_F(AnnouncedRecallsTest, JobsLeaveBeforeTheRecall) {
  runtime_.AddJob("a", 8, 1, 8);
  ServeAndTrain({{"a", 8}});
  Recall(2 * kHour);
  Look();
  EXPECT_EQ(StateOfN2(), NodeState::kUp);
  time_.Pass(2 * kHour - AnnouncedRecalls::kLeave);
  Look();
  EXPECT_EQ(StateOfN2(), NodeState::kMaintenance);
  Until("a leaves n2", [&] { return Trains("a", 4); });
  runtime_.nodes.at(1).recall.reset();
  Look();
  EXPECT_EQ(StateOfN2(), NodeState::kUp) << "the cluster has changed its mind";
}

TEST_F(AnnouncedRecallsTest, NothingStartsOnNodeThatIsCalledBackSoon) {
  Recall(AnnouncedRecalls::kLeave + AnnouncedRecalls::kClosed - 60);
  runtime_.AddJob("a", 1, 1, 8);
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  EXPECT_EQ(port_->Observe().cluster->total().gpus, 4);
}

TEST_F(AnnouncedRecallsTest, JobsWhoseLimitIsBeyondItStartElsewhere) {
  Recall(2 * kHour, kNever, true);
  runtime_.AddJob("long", 8, 1, 8, ResizeMode::kRestart).time_limit = 3 * kHour;
  runtime_.AddJob("short", 4, 4, 4, ResizeMode::kRestart).time_limit = kHour;
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  Decide({{"long", 8}});
  for (const NodeShare& share : JobOf("long").shares) EXPECT_EQ(share.node, 0);
  Look();
  ASSERT_TRUE(port_->WaitForChange(0));
  Decide({{"long", 4}, {"short", 4}});
  EXPECT_EQ(JobOf("short").shares.at(0).node, 1);
}

}  // namespace
}  // namespace allot
