#include "live/port/past_outages.h"

#include <gtest/gtest.h>

#include "tests/unit/live/live_cluster_fixture.h"

namespace allot {
namespace {

constexpr double kDay = 86400;

TEST(PastOutages, AreSummedUp) {
  const std::vector<PastOutage> outages = {{"n2", 90 * kDay, 91 * kDay},
                                           {"n1", 10 * kDay, 12 * kDay},
                                           {"n3", 99 * kDay, std::nullopt},
                                           {"n4", 90 * kDay + 60, 90 * kDay + 120}};
  const record::NodesBefore before = SumUpOutages(outages, 10, 100 * kDay, 100 * kDay);
  EXPECT_DOUBLE_EQ(before.failures, 3) << "n4 failed with n2";
  EXPECT_DOUBLE_EQ(before.node_seconds, 10 * 90 * kDay - 4 * kDay - 60);
  EXPECT_EQ(before.failed_at, -1 * kDay) << "before time 0 of the journal";
  EXPECT_EQ(before.repaired, (std::vector<std::string>{"n2", "n4"}));
}

class PastOutagesTest : public LiveClusterFixture {};

TEST_F(PastOutagesTest, NewDaemonBeginsWithWhatTheClusterKnows) {
  runtime_.past_outages = {{"n2", time_.wall - 3 * kDay, time_.wall - 2 * kDay}};
  Serve();
  cluster_->PollRuntime();
  EXPECT_DOUBLE_EQ(cluster_->state().failure_rate().failures(), 1);
  EXPECT_NEAR(cluster_->state().suspicion().OddsOf("n2", 0), 0.05 / 0.95, 1e-9) << "on probation";
  EXPECT_LT(cluster_->state().suspicion().OddsOf("n1", 0), 0.002);
}

TEST_F(PastOutagesTest, AreAskedForOnce) {
  runtime_.past_outages = {{"n2", time_.wall - 3 * kDay, time_.wall - 2 * kDay}};
  Serve();
  cluster_->PollRuntime();
  runtime_.past_outages.push_back({"n1", time_.wall - kDay, time_.wall - 60});
  Serve();
  cluster_->PollRuntime();
  EXPECT_DOUBLE_EQ(cluster_->state().failure_rate().failures(), 1) << "as the journal says";
  EXPECT_EQ(cluster_->state().suspicion().nodes().count("n1"), 0U);
}

}  // namespace
}  // namespace allot
