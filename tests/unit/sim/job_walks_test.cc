#include "sim/job_walks.h"

#include <gtest/gtest.h>

#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

TEST(JobWalks, GoThroughSegments) {
  // 1,000 units of work: 500 at rate 1, 500 at rate 2.
  const Scenario scenario =
      testing_support::ScenarioOf({{0, 1, 1000}}, "1x1", {.progress = "phases:at=0.5,factors=2"});
  Observation o;
  o.share_begin.assign(1, 0);
  o.Append({.table = scenario.facts(0).table.get(), .running = 0});
  JobWalks walks(scenario);
  ASSERT_TRUE(walks.Follows(0));
  EXPECT_EQ(walks.Begin(o, 0, 30), 30 + 500 + 250);
  EXPECT_EQ(walks.DoneAfter(o, 0, 400, 150), 500 + 100);
  EXPECT_EQ(walks.DoneSinceBegin(o, 0, 2000), 1000);
  double done = 500 - 1e-10;  // as good as over
  EXPECT_EQ(walks.SegmentAt(o, 0, &done).rate, 2);
  EXPECT_EQ(done, 500);
}

}  // namespace
}  // namespace allot
