#include "perf/rate_fit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "perf/catalogue.h"

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

// What no plan fits must not run as if its GPU type were unknown.
TEST(RateFit, ACountBelowTheFloorOfAKnownTypeKeepsRateZero) {
  const ModelPtr model = Catalogue::FromName("transformers").Get("llama-7b");
  ASSERT_EQ(model->Rate({1}, "v100-16"), 0);
  RateFit fit(model);
  EXPECT_EQ(fit.Rate(1, "v100-16"), 0);
  EXPECT_GT(fit.Rate(8, "mi300"), 0) << "of a type that nothing is known of";
  fit.Measure(1, "v100-16", 1000, 60);
  fit.Measure(8, "h100", model->Rate({8}, "h100") / 2, 60);
  EXPECT_NEAR(fit.Rate(16, "h100") / fit.Rate(8, "h100"),
              model->Rate({16}, "h100") / model->Rate({8}, "h100"), 1e-9);
  EXPECT_EQ(fit.Rate(1, "v100-16"), 0) << "a rate without a prior corrects nothing";
}

// The prior of a transformer depends on the GPUs of a node: a table must show what was measured.
TEST(RateFit, AMeasuredCountHasItsRateOnNodesOfAnySize) {
  RateFit fit(Catalogue::FromName("transformers").Get("llama-70b"));
  fit.Measure(32, "h100", 12345, 60, Span{2, Span::kAny});
  const ModelPtr fitted = fit.Model();
  for (const GpuCount node_gpus : {4, 8, 16}) {
    const std::vector<UnitCounts> nodes = FewestNodes(32, node_gpus, Span{2, Span::kAny});
    EXPECT_NEAR(fitted->Rate(RunShape{"h100", nodes, {}}, {}), 12345, 1e-6) << node_gpus;
    const std::vector<UnitCounts> twice = FewestNodes(64, node_gpus, Span{2, Span::kAny});
    EXPECT_NEAR(fitted->Rate(RunShape{"h100", twice, {}}, {}) / 12345,
                fit.prior().Rate(RunShape{"h100", twice, {}}, {}) /
                    fit.prior().Rate(RunShape{"h100", nodes, {}}, {}),
                1e-9)
        << node_gpus;
  }
}

TEST(RateFit, KeepsWhatItsModelSaysBesideTheRate) {
  const ModelPtr model = Catalogue::FromName("transformers").Get("llama-7b");
  RateFit fit(model);
  fit.Measure(8, "h100", 1000, 60);
  const ModelPtr fitted = fit.Model();
  const std::vector<UnitCounts> nodes(2, UnitCounts(8));
  EXPECT_EQ(fitted->PlanOn({"h100", nodes, {}}), model->PlanOn({"h100", nodes, {}}));
  EXPECT_EQ(fitted->PlanOn({"mi300", nodes, {}}), model->PlanOn({"h100", nodes, {}}));
  EXPECT_EQ(fitted->StateSeconds({"h100", nodes, {}}), model->StateSeconds({"h100", nodes, {}}));
  EXPECT_TRUE(fitted->Offers(12, "h100"));
  EXPECT_FALSE(fitted->Offers(20, "h100"));
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
