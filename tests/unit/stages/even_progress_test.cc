#include "stages/rounds/even_progress.h"

#include <gtest/gtest.h>

#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::World;

// Two jobs on two types of two GPUs each: of each type a whole GPU a job, so that half of its time
// goes to each type.
TEST(EvenProgressTest, CountsAnEvenDivisionOfEachType) {
  World world("1x2:fast,1x2:slow");
  world.Add({{1}, {.5}});
  world.Add({{1}, {0}});
  world.o.submit = {0, 0};
  world.o.estimated_work = {1000, 1000};
  world.o.now = 100;
  EvenProgress even;
  even.Observe(world.o);
  EXPECT_NEAR(even.behind()[0], .75 * 100 / 1000, 1e-9);
  EXPECT_NEAR(even.behind()[1], .5 * 100 / 1000, 1e-9);
  world.o.now = 200;
  world.o.done_work[0] = 200;
  even.Observe(world.o);
  EXPECT_NEAR(even.behind()[0], .75 * 200 / 1000 - .2, 1e-9);
  EXPECT_NEAR(even.behind()[1], .5 * 200 / 1000, 1e-9);
  even.OnEpisodeStart();
  even.Observe(world.o);  // all of its time since it came at the present division
  EXPECT_NEAR(even.behind()[1], .5 * 200 / 1000, 1e-9);
}

TEST(EvenProgressTest, AShareSmallerThanTheJobStretchesIt) {
  World world("1x2");
  for (int i = 0; i < 4; ++i) world.Add({{1, 2}}, 2);
  world.o.submit.assign(4, 0);
  world.o.estimated_work.assign(4, 1000);
  world.o.now = 100;
  EvenProgress even;
  even.Observe(world.o);
  EXPECT_NEAR(even.behind()[0], 2 * .25 * 100 / 1000, 1e-9);
}

}  // namespace
}  // namespace allot
