#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "perf/throughput_model.h"

namespace allot {
namespace {

ModelPtr Model() {
  return MakeGpuScalingModel("m", {{"v100", {{2, 10}, {4, 16}, {8, 24}}}, {"k80", {{1, 1}}}});
}

TEST(GpuScalingModel, MeasuredCountsAreExact) {
  EXPECT_EQ(Model()->Rate({2}, "v100"), 10);
  EXPECT_EQ(Model()->Rate({8}, "v100"), 24);
}

TEST(GpuScalingModel, LinearBetweenMeasuredCounts) {
  EXPECT_DOUBLE_EQ(Model()->Rate({3}, "v100"), 13);
  EXPECT_DOUBLE_EQ(Model()->Rate({7}, "v100"), 22);
}

TEST(GpuScalingModel, DoesNotRunBelowTheLeastMeasuredCount) {
  EXPECT_EQ(Model()->Rate({1}, "v100"), 0);
}

TEST(GpuScalingModel, ProportionalBelowTheFirstCountOfASpan) {
  const ModelPtr model = MakeGpuScalingModel(
      "m", {{"v100", {{1, 6}, {4, 20}}, {1, 1}}, {"v100", {{4, 16}}, {2, Span::kAny}}});
  const std::vector<UnitCounts> two_nodes = {1, 1};
  EXPECT_DOUBLE_EQ(model->Rate({"v100", two_nodes, {}}, {}), 8);
}

TEST(GpuScalingModel, PowerLawBeyondTheLast) {
  EXPECT_DOUBLE_EQ(Model()->Rate({16}, "v100"), 36);  // doubling gave a factor 1.5
}

TEST(GpuScalingModel, BeyondTheLastAlwaysSlowerThanLinear) {
  const ModelPtr model = MakeGpuScalingModel("m", {{"v100", {{4, 10}, {8, 100}}}});
  EXPECT_DOUBLE_EQ(model->Rate({16}, "v100"), 100 * std::pow(2, 0.9));
}

TEST(GpuScalingModel, BeyondTheLastNeverSlower) {
  const ModelPtr model = MakeGpuScalingModel("m", {{"v100", {{4, 10}, {8, 9}}}});
  EXPECT_DOUBLE_EQ(model->Rate({16}, "v100"), 9);
}

TEST(GpuScalingModel, OneMeasuredCountSaysNothingAboutScaling) {
  EXPECT_DOUBLE_EQ(Model()->Rate({4}, "k80"), 1);
}

TEST(GpuScalingModel, TheUnnamedTypeIsTheReference) {
  EXPECT_EQ(Model()->Rate({4}, "gpu"), 16);
  EXPECT_EQ(Model()->Rate({4}, ""), 16);
}

TEST(GpuScalingModel, NothingRunsOnATypeThatWasNotMeasured) {
  EXPECT_EQ(Model()->Rate({4}, "a100"), 0);
  EXPECT_EQ(Model()->Rate({4}, "v1OO"), 0);
}

TEST(GpuScalingModel, AProfileOfTheUnnamedTypeAloneIsTheSameOnAll) {
  const ModelPtr model = MakeGpuScalingModel("m", {{"gpu", {{1, 10}, {4, 16}}}});
  EXPECT_EQ(model->Rate({4}, "k80"), 16);
}

TEST(GpuScalingModel, NothingRunsOnNoGpu) { EXPECT_EQ(Model()->Rate({0}, "v100"), 0); }

TEST(GpuScalingModel, RefusesPointsOutOfOrder) {
  EXPECT_THROW(MakeGpuScalingModel("m", {{"v100", {{4, 10}, {2, 5}}}}), std::logic_error);
}

TEST(ConstantModel, RateIsOneAtEverySize) {
  EXPECT_EQ(MakeConstantModel()->Rate({1}, "any"), 1);
  EXPECT_EQ(MakeConstantModel()->Rate({64}, "other"), 1);
  EXPECT_EQ(MakeConstantModel()->Rate({0}, "any"), 0);
}

// Measured on one node and on several: {4 on one: 40, 4 on more: 24, 8 on more: 44}.
ModelPtr SpanModel() {
  return MakeGpuScalingModel("spans", {{"v100", {{1, 10}, {4, 40}}, {1, 1}},
                                       {"v100", {{4, 24}, {8, 44}}, {2, Span::kAny}}});
}

double OnNodes(const ThroughputModel& model, std::vector<UnitCounts> nodes) {
  return model.Rate({"v100", nodes, {}}, {});
}

TEST(GpuScalingModel, ThePlacementDecidesWhereSpansWereMeasured) {
  const ModelPtr model = SpanModel();
  EXPECT_EQ(OnNodes(*model, {{4}}), 40);
  EXPECT_EQ(OnNodes(*model, {{2}, {2}}), 24);
  EXPECT_EQ(OnNodes(*model, {{4}, {2}}), 34);  // between 24 and 44
  EXPECT_EQ(OnNodes(*model, {{4}, {2}, {2}}), 44);
  EXPECT_EQ(model->SpansOn("v100"), (std::vector<Span>{{1, 1}, {2, Span::kAny}}));
}

TEST(GpuScalingModel, DoesNotRunOnNumbersOfNodesThatNoSpanHolds) {
  const ModelPtr model = MakeGpuScalingModel("one", {{"v100", {{4, 40}}, {1, 1}}});
  EXPECT_EQ(OnNodes(*model, {{2}, {2}}), 0);
}

TEST(FewestNodes, AreFullButForTheLast) {
  EXPECT_EQ(FewestNodes(10, 4, {}), (std::vector<UnitCounts>{{4}, {4}, {2}}));
  EXPECT_EQ(FewestNodes(4, 4, {2, Span::kAny}), (std::vector<UnitCounts>{{3}, {1}}));
  EXPECT_TRUE(FewestNodes(5, 4, {1, 1}).empty());
  EXPECT_TRUE(FewestNodes(1, 4, {2, Span::kAny}).empty());
}

}  // namespace
}  // namespace allot
