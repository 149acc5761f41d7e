#include <gtest/gtest.h>

#include <numeric>

#include "cluster/event_finder.h"
#include "core/file.h"
#include "sched/incremental_stages.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"
#include "tests/unit/sched/world.h"
#include "workload/history_file.h"

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
    MakeStage<Ordering>("ordering", spec, FileLoader())->Keys(world_.o, rows, &keys);
    return keys;
  }
  World world_;
};

TEST_F(OrderingTest, SubmitIsTheSubmissionTime) {
  EXPECT_EQ(Keys("submit"), (std::vector<double>{0, 1, 2}));
}

TEST_F(OrderingTest, RandomIsANumberOfTheJobWhateverItsRow) {
  const std::vector<double> keys = Keys("random");
  std::swap(world_.o.job[0], world_.o.job[2]);
  EXPECT_EQ(Keys("random"), (std::vector<double>{keys[2], keys[1], keys[0]}));
  EXPECT_NE(keys[0], keys[1]);
  EXPECT_NE(keys[1], keys[2]);
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

TEST_F(OrderingTest, InsideAQueueWhoCameIntoItFirstComesFirst) {
  const std::vector<std::int32_t> rows = {0, 1, 2};
  std::vector<double> keys;
  const auto order = MakeStage<Ordering>("ordering", "attained:queues=100,within=entry");
  world_.o.now = 600;
  world_.o.attained_gpu_seconds = {99, 100, 0};
  order->Keys(world_.o, rows, &keys);
  world_.o.now = 900;
  world_.o.attained_gpu_seconds = {150, 300, 0};
  order->Keys(world_.o, rows, &keys);
  EXPECT_LT(keys[2], keys[1]);
  EXPECT_LT(keys[1], keys[0]) << "job 1 came at 600 s, job 0 at 900 s";
  ExpectError(ExitCode::kUsage, {"'within'", "submit or entry", "'age'"},
              [&] { Keys("attained:within=age"); });
}

TEST_F(OrderingTest, QueuesMustAscend) {
  ExpectError(ExitCode::kUsage, {"'queues' must ascend", "1000|100"},
              [&] { Keys("attained:queues=1000|100"); });
}

// Job 1 ran for 100 s up to 2000 s and has waited since; job 2 has never run.
TEST_F(OrderingTest, PromotionCountsServiceAnew) {
  const std::vector<std::int32_t> rows = {0, 1, 2};
  std::vector<double> keys;
  const auto order = MakeStage<Ordering>("ordering", "attained:queues=50|80,promote=3");
  world_.o.attained_gpu_seconds = {60, 100, 0};
  world_.o.attained_seconds = {60, 100, 0};
  world_.o.waiting_since = {2299, 2000, 2};
  world_.o.running[0] = 0;
  world_.o.now = 2299;
  order->Keys(world_.o, rows, &keys);
  EXPECT_EQ(keys, (std::vector<double>{1, 2, 0}));
  const auto waits = [&](std::int32_t row) {
    return order->incremental()->WaitMoves(world_.o, std::vector{row});
  };
  EXPECT_EQ(waits(0), 2299 + 3 * 60);  // if it is stopped now
  EXPECT_EQ(waits(1), 2300);
  EXPECT_EQ(waits(2), kNever);
  world_.o.now = world_.o.waiting_since[0] = 2300;
  order->Keys(world_.o, rows, &keys);
  EXPECT_EQ(keys, (std::vector<double>{1, 0, 0}));
  EXPECT_EQ(waits(1), kNever);
  world_.o.attained_gpu_seconds[1] = world_.o.attained_seconds[1] = 149;
  order->Keys(world_.o, rows, &keys);
  EXPECT_EQ(keys[1], 0) << "49 s since its promotion";
  EXPECT_EQ(order->incremental()->DriftOf(world_.o, 1, 0).until, 2301);
  order->OnEpisodeStart();
  world_.o.now = 2001;
  order->Keys(world_.o, rows, &keys);
  EXPECT_EQ(keys[1], 2) << "a new episode knows of no promotion";
}

TEST_F(OrderingTest, PriorityIsLargestFirst) {
  world_.o.priority = {0, 5, -1};
  EXPECT_EQ(Keys("priority"), (std::vector<double>{0, -5, 1}));
}

TEST_F(OrderingTest, DeadlineIsEarliestFirstAndNoneIsLast) {
  world_.o.deadline = {900, kNever, 100};
  EXPECT_EQ(Keys("deadline"), (std::vector<double>{900, kNever, 100}));
}

TEST_F(OrderingTest, ReceivedIsTheShareOfWhatWasDue) {
  // Three jobs on 4 GPUs: an equal share is 4/3 GPUs, rate 4/3; submitted at 0, 1, 2 s.
  world_.o.now = 101;
  world_.o.done_work = {0, 100, 33};
  const std::vector<double> keys = Keys("received");
  EXPECT_EQ(keys[0], 0);
  EXPECT_DOUBLE_EQ(keys[1], 0.75);
  EXPECT_DOUBLE_EQ(keys[2], 0.25);
}

TEST_F(OrderingTest, GittinsLearnsFromJobsThatEnd) {
  // Three long jobs of one GPU have ended; who got past where short ones end is one more of them.
  const auto order = MakeStage<Ordering>("ordering", "gittins:prior=0.001");
  std::vector<double> keys;
  EventFinder finder;
  const auto decide = [&](Observation& o) {
    finder.Find(&o);
    std::vector<std::int32_t> rows(o.job.size());
    std::iota(rows.begin(), rows.end(), 0);
    order->Keys(o, rows, &keys);
  };
  testing_support::World past("1x4");
  for (int job = 0; job < 5; ++job) past.Add({{1}});
  past.o.attained_gpu_seconds = {100, 100, 10000, 90, 9000};
  past.o.now = 20000;
  decide(past.o);
  EXPECT_LT(keys[0], keys[2]) << "before any end: least attained service";
  testing_support::World later("1x4");
  for (int job = 0; job < 5; ++job) later.Add({{1}});
  later.o.EraseRows({0, 1, 2});
  later.o.attained_gpu_seconds = {150, 9000};
  later.o.now = 20000;
  decide(later.o);
  EXPECT_GT(keys[0], keys[1])
      << "after 150 GPU-seconds only the long end is left; 9000 are near it";
}

TEST_F(OrderingTest, GittinsReadsAHistory) {
  const testing_support::TempFolder folder;
  const std::string path = (folder / "history.csv").string();
  WriteTextFile(path, "job_id,submit_s,gpus,duration_s\na,0,1,100\nb,0,1,100\nc,0,1,9000\n");
  world_.o.attained_gpu_seconds = {0, 200, 8000};
  const std::vector<double> keys = Keys("gittins:prior=0.001,history=" + path);
  EXPECT_LT(keys[2], keys[1]);
  ExpectError(ExitCode::kBadData, {"no-such-trace"},
              [&] { Keys("gittins:history=no-such-trace"); });
  WriteTextFile(path + ".bad", "job_id,submit_s,gpus,duration_s\na,0,1,100\nb,0,1,many\n");
  ExpectError(ExitCode::kBadData, {path + ".bad", ":3"},
              [&] { Keys("gittins:history=" + path + ".bad"); });
}

TEST_F(OrderingTest, AHistoryThatNobodyLoadsIsAnError) {
  ExpectError(ExitCode::kUsage, {"ordering 'gittins'", "'history'", "'trace.csv'", "loads"},
              [] { MakeStage<Ordering>("ordering", "gittins:history=trace.csv"); });
}

TEST_F(OrderingTest, GittinsGivenEstimateBelievesTheEstimate) {
  world_.o.estimated_work = {400, 100, kUnknown};
  const std::vector<double> keys = Keys("gittins-given-estimate:sigma=0.1");
  EXPECT_NEAR(keys[0], 400, 60);  // rate 2 on 2 GPUs: 200 s, 400 GPU-seconds
  EXPECT_NEAR(keys[1], 100, 15);
  EXPECT_EQ(keys[2], kNever);
  world_.o.attained_gpu_seconds = {200, 1000, 0};
  const std::vector<double> later = Keys("gittins-given-estimate:sigma=0.1");
  EXPECT_NEAR(later[0], 200, 60);
  EXPECT_GT(later[1], 400) << "its estimate has proved short";
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
