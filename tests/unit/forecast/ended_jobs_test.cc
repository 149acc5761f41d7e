#include "forecast/ended_jobs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::World;

// Observed at 1000 s: job 0 runs on 2 GPUs, job 1, which asks for 1, waits.
class EndedJobsTest : public testing::Test {
 protected:
  EndedJobsTest() : before_("1x4"), after_("1x4") {
    before_.Add({{1, 2}}, 2);
    before_.Add({{1, 2}}, 1);
    before_.Run(0, 1, {{0, 0b0011}});
    before_.o.attained_gpu_seconds = {500, 40};
    before_.o.estimated_work = {600, kUnknown};
    before_.o.now = 1000;
    after_.o.now = 1300;
  }
  World before_;
  World after_;  // nobody is left
  EndedJobs ended_;
};

TEST_F(EndedJobsTest, TellsWhoIsGoneAndWhatTheyTook) {
  EXPECT_TRUE(ended_.Observe(before_.o).empty());
  const auto gone = ended_.Observe(after_.o);
  ASSERT_EQ(gone.size(), 2U);
  EXPECT_EQ(gone[0].job, 0);
  EXPECT_EQ(gone[0].size, 2);
  EXPECT_DOUBLE_EQ(gone[0].gpu_seconds, 500 + 2 * 150);
  EXPECT_DOUBLE_EQ(gone[0].estimated, 600);
  EXPECT_EQ(gone[1].job, 1);
  EXPECT_DOUBLE_EQ(gone[1].gpu_seconds, 40 + 150);
  EXPECT_TRUE(std::isnan(gone[1].estimated));
  EXPECT_TRUE(ended_.Observe(after_.o).empty()) << "told once";
}

TEST_F(EndedJobsTest, AnEndIsInTheLastIntervalHoweverLongNobodyAsked) {
  ended_.Observe(before_.o);
  after_.o.now = 10000;
  EXPECT_DOUBLE_EQ(ended_.Observe(after_.o)[0].gpu_seconds, 500 + 2 * (9850.0 - 1000));
}

TEST_F(EndedJobsTest, ANewEpisodeForgets) {
  ended_.Observe(before_.o);
  ended_.OnEpisodeStart();
  EXPECT_TRUE(ended_.Observe(after_.o).empty());
}

}  // namespace
}  // namespace allot
