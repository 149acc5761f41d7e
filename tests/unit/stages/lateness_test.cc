#include "stages/lateness.h"

#include <gtest/gtest.h>

#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::World;

class LatenessTest : public ::testing::Test {
 protected:
  // Two jobs, by the interval of 300 s: what they do in two of them counts as done.
  LatenessTest() : world_("1x2") {
    world_.Add({{1, 1.5}});
    world_.Add({{1, 1.5}});
    world_.o.submit = {0, 0};
    world_.o.interval = 300;
  }
  double Ratio(double left = 1000) {
    lateness_.Observe(world_.o, std::vector<double>{left, left});
    return lateness_.ratios()[0];
  }
  World world_;
  Lateness lateness_;
};

TEST_F(LatenessTest, AJobThatHasAnEvenPartIsNotLate) {
  world_.o.now = 5000;
  world_.o.done_work = {5000, 5000};
  EXPECT_DOUBLE_EQ(Ratio(), 1);
}

TEST_F(LatenessTest, WhoWaitsIsLaterTheShorterItMayBe) {
  world_.o.now = 1800;
  EXPECT_DOUBLE_EQ(Ratio(1000), (1800 + 600) / 600.0);
  lateness_.OnEpisodeStart();
  EXPECT_DOUBLE_EQ(Ratio(60000), (1800 + 6000) / 6000.0) << "a tenth of its estimate";
}

TEST_F(LatenessTest, EvenPartsFollowTheNumberOfJobs) {
  world_.o.now = 600;
  EXPECT_DOUBLE_EQ(Ratio(), (600 + 600) / 600.0);
  world_.Add({{1, 1.5}});
  world_.Add({{1, 1.5}});
  world_.o.now = 1200;
  lateness_.Observe(world_.o, std::vector<double>(4, 1000));
  EXPECT_DOUBLE_EQ(lateness_.ratios()[0], (600 + 300 + 600) / 600.0) << "half a GPU from then on";
}

TEST_F(LatenessTest, ALargePartIsWorthWhatTheHullSays) {
  World alone("1x2");
  alone.Add({{1, 1.5}});
  alone.o.submit = {0};
  alone.o.interval = 300;
  alone.o.now = 1000;
  lateness_.Observe(alone.o, std::vector<double>{1000});
  EXPECT_DOUBLE_EQ(lateness_.ratios()[0], (1500 + 600) / 600.0);
}

}  // namespace
}  // namespace allot
