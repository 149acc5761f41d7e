#include <gtest/gtest.h>

#include "sched/stages.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::World;

// Three jobs of rate n on n GPUs; job 0 asks for 2 GPUs, the others for 1.
class OrderingTest : public testing::Test {
 protected:
  OrderingTest() : world_("1x4") {
    world_.Add({{1, 2}}, 2);
    world_.Add({{1, 2}}, 1);
    world_.Add({{1, 2}}, 1);
  }
  std::vector<double> Keys(const std::string& spec) {
    const std::vector<std::int32_t> rows = {0, 1, 2};
    std::vector<double> keys = {99};  // an ordering clears what is there
    MakeStage<Ordering>("ordering", spec)->Keys(world_.o, rows, &keys);
    return keys;
  }
  World world_;
};

TEST_F(OrderingTest, SubmitIsTheSubmissionTime) {
  EXPECT_EQ(Keys("submit"), (std::vector<double>{0, 1, 2}));
}

TEST_F(OrderingTest, LengthIsTheTimeAtTheRequestedSize) {
  world_.o.estimated_work = {100, 70, kUnknown};
  world_.o.done_work = {90, 0, 0};
  EXPECT_EQ(Keys("length"), (std::vector<double>{50, 70, kNever}));
}

TEST_F(OrderingTest, RemainingTakesOffWhatIsDone) {
  world_.o.estimated_work = {100, 70, kUnknown};
  world_.o.done_work = {90, 0, 0};
  EXPECT_EQ(Keys("remaining"), (std::vector<double>{5, 70, kNever}));
}

TEST_F(OrderingTest, AttainedIsTheServiceSoFar) {
  world_.o.attained_gpu_seconds = {20, 10, 0};
  world_.o.attained_seconds = {5, 10, 0};
  EXPECT_EQ(Keys("attained"), (std::vector<double>{20, 10, 0}));
  EXPECT_EQ(Keys("attained:service=seconds"), (std::vector<double>{5, 10, 0}));
}

TEST_F(OrderingTest, QueuesCountTheThresholdsReached) {
  world_.o.attained_gpu_seconds = {99, 100, 5000};
  EXPECT_EQ(Keys("attained:queues=100|1000"), (std::vector<double>{0, 1, 2}));
}

TEST_F(OrderingTest, QueuesMustAscend) {
  ExpectError(ExitCode::kUsage, {"'queues' must ascend", "1000|100"},
              [&] { Keys("attained:queues=1000|100"); });
}

TEST_F(OrderingTest, OnlySubmitAndLengthLeaveRunningJobsAlone) {
  const auto preemptive = [](const std::string& spec) {
    return MakeStage<Ordering>("ordering", spec)->preemptive();
  };
  EXPECT_FALSE(preemptive("submit"));
  EXPECT_FALSE(preemptive("length"));
  EXPECT_TRUE(preemptive("submit:preemptive=true"));
  EXPECT_TRUE(preemptive("remaining"));
  EXPECT_TRUE(preemptive("attained"));
}

}  // namespace
}  // namespace allot
