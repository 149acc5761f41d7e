#include "experiment/world.h"

#include <gtest/gtest.h>

#include "experiment/training/training_plan.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/experiment/small_trace.h"

namespace allot {
namespace {

using testing_support::SmallTrace;

const char* const kFourJobs = "a,0,1,100\nb,50,2,100\nc,100,1,300\nd,150,1,20\n";

std::vector<std::string> IdsOf(const Scenario& scenario) {
  std::vector<std::string> ids;
  for (const Job& job : scenario.workload().jobs) ids.push_back(job.id);
  return ids;
}

TEST(World, WithoutALoadTheWorkloadIsTheWholeTrace) {
  const SmallTrace trace(kFourJobs);
  World world(trace.OnOneNode("1x4"));
  const auto scenarios = world.Scenarios();
  ASSERT_EQ(scenarios.size(), 1U);
  EXPECT_EQ(IdsOf(*scenarios[0].scenario), (std::vector<std::string>{"a", "b", "c", "d"}));
  EXPECT_EQ(scenarios[0].scenario->options().interval, 10);
}

TEST(World, UsesWhatWasSubmittedInTheWindow) {
  const SmallTrace trace(kFourJobs);
  WorldSpec spec = trace.OnOneNode("1x4");
  spec.from = "50";
  spec.to = "150";
  EXPECT_EQ(IdsOf(*World(spec).Scenarios()[0].scenario), (std::vector<std::string>{"b", "c"}));
}

TEST(World, RefusesWindowsWithoutSubmissionsNamingBothTimes) {
  const SmallTrace trace(kFourJobs);
  WorldSpec spec = trace.OnOneNode("1x4");
  spec.from = "151";
  ExpectError(ExitCode::kUsage, {"--from", "150 s", "got 151"}, [&] { World(spec).Scenarios(); });
  spec.from = "100";
  spec.to = "100";
  ExpectError(ExitCode::kUsage, {"--to must lie after --from", "100 and 100"},
              [&] { World(spec).Scenarios(); });
}

TEST(World, RefusesMoreWorkloadsOfAWholeTrace) {
  const SmallTrace trace(kFourJobs);
  WorldSpec spec = trace.OnOneNode("1x4");
  spec.workloads = 2;
  ExpectError(ExitCode::kUsage, {"--workloads 2 needs --load"}, [&] { World(spec).Scenarios(); });
}

TEST(World, RefusesOptionsOfALawForATrace) {
  const SmallTrace trace(kFourJobs);
  WorldSpec spec = trace.OnOneNode("1x4");
  spec.rate = 3;
  ExpectError(ExitCode::kUsage, {"--rate 3", "law:NAME", trace.path()},
              [&] { World(spec).Scenarios(); });
}

TEST(World, WorldsWithOneCacheReadATraceOnce) {
  const SmallTrace trace(kFourJobs);
  WorkloadCache cache;
  World one(trace.OnOneNode("1x4"), &cache);
  World other(trace.OnOneNode("2x4"), &cache);
  EXPECT_EQ(&one.trace(), &other.trace());
  EXPECT_EQ(cache.reports().size(), 1U);
}

TEST(World, HintsAtMuchMoreThanTheClusterServes) {
  // Until the last submission four jobs want all GPUs at once.
  const SmallTrace trace("a,0,4,1000\nb,0,4,1000\nc,0,4,1000\nd,0,4,1000\ne,10,4,1000\n");
  World small(trace.OnOneNode("1x4"));
  EXPECT_NE(small.OverloadHint(small.Scenarios()).find("1x4"), std::string::npos);
  const SmallTrace light("a,0,1,10\nb,1000,1,10\n");
  World large(light.OnOneNode("1x4"));
  EXPECT_EQ(large.OverloadHint(large.Scenarios()), "");
}

TEST(World, DecidesTracesInFilesAtEventsUnlessToldOtherwise) {
  const SmallTrace trace("a,0,1,100\n");
  WorldSpec spec;
  EXPECT_FALSE(World(spec).sim().decide_on_events) << "embedded";
  spec.workload = "law:philly";
  EXPECT_FALSE(World(spec).sim().decide_on_events);
  spec.workload = trace.path();
  EXPECT_TRUE(World(spec).sim().decide_on_events);
  EXPECT_FALSE(World(AtIntervals(spec)).sim().decide_on_events);
  spec.interval = 60;
  EXPECT_FALSE(World(spec).sim().decide_on_events);
  spec.profile = "event";
  EXPECT_TRUE(World(spec).sim().decide_on_events);
  EXPECT_EQ(World(spec).name(), "default") << "networks know no world of its own";
  spec.profile = "default";
  spec.interval.reset();
  EXPECT_FALSE(World(spec).sim().decide_on_events);
}

}  // namespace
}  // namespace allot
