// What worlds and checkpoints were made from, and whether they share jobs.

#include <gtest/gtest.h>

#include "experiment/sources.h"
#include "experiment/training/training_overlap.h"
#include "tests/unit/experiment/small_trace.h"

namespace allot {
namespace {

using testing_support::SmallTrace;

nlohmann::json TrainedOn(const SmallTrace& trace, const char* from, const char* to) {
  return {{"sources", {{{"workload", trace.path()}, {"from", from}, {"to", to}}}}};
}

TEST(TrainingOverlapOf, ComparesWindowsOfOneTrace) {
  const SmallTrace trace("a,0,1,10\nb,100,1,10\nc,200,1,10\n");
  WorldSpec spec = trace.OnOneNode("1x1");
  spec.from = "100";
  World world(spec);
  EXPECT_EQ(TrainingOverlapOf(TrainedOn(trace, "", "100"), world), TrainingOverlap::kUnseen);
  EXPECT_EQ(TrainingOverlapOf(TrainedOn(trace, "", "101"), world), TrainingOverlap::kSeen);
  EXPECT_EQ(TrainingOverlapOf(TrainedOn(trace, "", ""), world), TrainingOverlap::kSeen);
}

TEST(TrainingOverlapOf, KnowsNothingOfOtherTracesAndUnknownSources) {
  const SmallTrace here("a,0,1,10\n");
  const SmallTrace there("a,0,1,10\n");
  World world(here.OnOneNode("1x1"));
  EXPECT_EQ(TrainingOverlapOf(TrainedOn(there, "", ""), world), TrainingOverlap::kNotKnown);
  EXPECT_EQ(TrainingOverlapOf({{"sources", {{{"unknown", "log x"}}}}}, world),
            TrainingOverlap::kNotKnown);
  EXPECT_EQ(TrainingOverlapOf({{"sources", nlohmann::json::array()}}, world),
            TrainingOverlap::kNotKnown);
}

TEST(Sources, OfASettingAndOfAHistoryAreWindows) {
  World world({.setting = "trace:workload=t.csv,from=1d,to=2d"});
  EXPECT_EQ(SourcesOf(world).dump(), R"([{"from":"1d","to":"2d","workload":"t.csv"}])");
  EXPECT_EQ(SourcesOfHistory("t.csv@7d").dump(), R"([{"from":"","to":"7d","workload":"t.csv"}])");
}

TEST(Sources, AreKeptOnce) {
  nlohmann::json all = SourcesOfHistory("t.csv@7d");
  AddSources(SourcesOfHistory("t.csv@7d"), &all);
  AddSources(SourcesOfHistory("t.csv@8d"), &all);
  EXPECT_EQ(all.size(), 2U);
}

}  // namespace
}  // namespace allot
