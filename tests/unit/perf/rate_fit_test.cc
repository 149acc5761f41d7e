#include "perf/rate_fit.h"

#include <gtest/gtest.h>

#include <cmath>

namespace allot {
namespace {

TEST(RateFit, IsThePriorUntilSomethingWasMeasured) {
  const RateFit fit(MakePriorModel());
  EXPECT_FALSE(fit.measured());
  EXPECT_DOUBLE_EQ(fit.Rate(1, "a100"), 1.0);
  EXPECT_DOUBLE_EQ(fit.Rate(8, "a100"), std::pow(8.0, kPriorExponent));
}

TEST(RateFit, CarriesOneMeasurementOverToOtherSizesAndTypes) {
  RateFit fit(MakePriorModel());
  fit.Measure(2, "a100", 300, 10);
  EXPECT_NEAR(fit.Rate(2, "a100"), 300, 1e-9);
  EXPECT_NEAR(fit.Rate(4, "a100"), 300 * std::pow(2.0, kPriorExponent), 1e-9);
  EXPECT_NEAR(fit.Rate(2, "v100"), 300, 1e-9);
}

TEST(RateFit, InterpolatesTheRatioBetweenMeasuredSizes) {
  RateFit fit(MakePriorModel());
  fit.Measure(1, "a100", 100, 10);
  fit.Measure(4, "a100", 100, 10);  // it does not scale at all
  EXPECT_NEAR(fit.Rate(2, "a100"), 100, 1e-9);
  EXPECT_NEAR(fit.Rate(8, "a100"), 100 * std::pow(2.0, kPriorExponent), 1e-9);
}

TEST(RateFit, TellsSpansApart) {
  RateFit fit(MakePriorModel());
  constexpr Span kOne{1, 1};
  constexpr Span kSeveral{2, Span::kAny};
  fit.Measure(4, "a100", 400, 10, kOne);
  EXPECT_NEAR(fit.Rate(4, "a100", kSeveral), 400, 1e-9) << "until it was measured";
  fit.Measure(4, "a100", 100, 10, kSeveral);
  EXPECT_NEAR(fit.Rate(4, "a100", kOne), 400, 1e-9);
  EXPECT_NEAR(fit.Rate(4, "a100", kSeveral), 100, 1e-9);
  EXPECT_NEAR(fit.Rate(8, "a100", kSeveral), 100 * std::pow(2.0, kPriorExponent), 1e-9);
  // As a model: by the nodes of the placement. Other types: what is known of their like.
  const std::vector<UnitCounts> spread = {3, 1};
  EXPECT_NEAR(fit.Model()->Rate(RunShape{"a100", spread, {}}, {}), 100, 1e-9);
  EXPECT_NEAR(fit.Rate(4, "v100", kSeveral), 100, 1e-9);
}

// A job that says later what tells its spans apart was first measured without.
TEST(RateFit, OfSpansThatHoldTheNodesTheNarrowestCounts) {
  RateFit fit(MakePriorModel());
  fit.Measure(1, "a100", 470, 10);
  fit.Measure(1, "a100", 16000, 10, Span{1, 1});
  EXPECT_NEAR(fit.Rate(1, "a100", Span{1, 1}), 16000, 1e-9);
  const std::vector<UnitCounts> spread = {1, 1};
  EXPECT_NEAR(fit.Model()->Rate(RunShape{"a100", spread, {}}, {}),
              470 * std::pow(2.0, kPriorExponent), 1e-6);
}

TEST(RateFit, FollowsARateThatChanges) {
  RateFit fit(MakePriorModel());
  fit.Measure(1, "a100", 100, 60);
  for (int i = 0; i < 20; ++i) fit.Measure(1, "a100", 50, 60);
  EXPECT_NEAR(fit.Rate(1, "a100"), 50, 1);
}

TEST(RateFit, SaysWhenATableMadeOfItIsOutOfDate) {
  RateFit fit(MakePriorModel());
  EXPECT_FALSE(fit.Moved(0.05));
  fit.Measure(1, "a100", 100, 10);
  EXPECT_TRUE(fit.Moved(0.05));
  fit.MarkUsed();
  fit.Measure(1, "a100", 101, 10);
  EXPECT_FALSE(fit.Moved(0.05));
  fit.Measure(1, "a100", 150, 60);
  EXPECT_TRUE(fit.Moved(0.05));
}

TEST(RateFit, ANonsensicalMeasurementIsNone) {
  RateFit fit(MakePriorModel());
  fit.Measure(1, "a100", 0, 10);
  fit.Measure(1, "a100", kUnknown, 10);
  fit.Measure(1, "a100", 10, 0);
  EXPECT_FALSE(fit.measured());
}

}  // namespace
}  // namespace allot
