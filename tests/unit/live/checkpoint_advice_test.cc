#include "live/port/checkpoint_advice.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "live/state/records_json.h"
#include "tests/unit/live/live_cluster_fixture.h"

namespace allot {
namespace {

constexpr Seconds kPrior = NodeFailureRate::kNodeSecondsBefore;

class CheckpointAdviceTest : public LiveClusterFixture {
 protected:
  void Report(Seconds save_seconds) {
    runtime_.jobs.at("a").progress.save_seconds = save_seconds;
    Look();
  }
  Seconds Advice() const {
    const auto found = runtime_.checkpoint_every.find("a");
    return found == runtime_.checkpoint_every.end() ? 0 : found->second;
  }
};

TEST_F(CheckpointAdviceTest, FollowsCostAndNodes) {
  runtime_.AddJob("a", 2, 2, 8);
  ServeAndTrain({{"a", 2}});
  EXPECT_EQ(Advice(), 0) << "nothing is known of its checkpoints";
  Report(0.1);
  EXPECT_NEAR(Advice(), std::sqrt(2 * 0.1 * kPrior), 20) << "on one node";
  TrainOn({{"a", 8}});
  EXPECT_NEAR(Advice(), std::sqrt(2 * 0.1 * kPrior / 2), 20) << "on two nodes";
}

TEST_F(CheckpointAdviceTest, IsNoLongerThanPays) {
  runtime_.AddJob("a", 2, 2, 8);
  ServeAndTrain({{"a", 2}});
  Report(5);
  EXPECT_EQ(Advice(), 3600);
  Report(60);
  EXPECT_EQ(Advice(), 6000);
}

TEST_F(CheckpointAdviceTest, FailuresOfNodesShortenIt) {
  runtime_.AddJob("a", 2, 2, 2);
  ServeAndTrain({{"a", 2}});
  Report(0.1);
  const Seconds before = Advice();
  for (int times = 0; times < 3; ++times) {
    runtime_.nodes[1].state = NodeState::kDown;
    Look();
    runtime_.nodes[1].state = NodeState::kUp;
    Look();
    time_.Pass(2 * NodeFailureRate::kOneEvent);
  }
  Look();
  EXPECT_NEAR(Advice(), before / 2, 0.02 * before) << "four times as often as believed";
  LiveState renewed{JobTable::Options{}};
  cluster_->state().ForEachRecord(cluster_->origin(), cluster_->now(), [&](const TimedRecord& one) {
    renewed.Apply(RecordFrom(ToJson(one)));
  });
  EXPECT_DOUBLE_EQ(renewed.failure_rate().rate(), cluster_->state().failure_rate().rate());
}

}  // namespace
}  // namespace allot
