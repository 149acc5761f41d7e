#include "perf/placed_model.h"

#include <gtest/gtest.h>

#include <vector>

namespace allot {
namespace {

const Communication kRingOf40Percent{0.4F, CommunicationPattern::kRing};

TEST(PlacedModelTest, AnIterationTakesTheSlowestGpuAndTheSlowestLink) {
  // 0.6 x 1.03 + 0.4 x 1.2 x 1.3.
  EXPECT_NEAR(SlowdownAt({1.2, 1.03, 1.3}, kRingOf40Percent), 1.242, 1e-6);
}

TEST(PlacedModelTest, TheBestPlaceHasTheRateOfTheBase) {
  const std::vector<UnitCounts> nodes = {UnitCounts(4)};
  const PlacedModel model(MakeConstantModel(), kRingOf40Percent);
  EXPECT_EQ(model.Rate({"gpu", nodes, {}}, {}), 1);
}

TEST(PlacedModelTest, TheRateFallsByTheSlowdown) {
  const ModelPtr base = MakeGpuScalingModel("m", {{"gpu", {{1, 1}, {4, 3}}}});
  const PlacedModel model(base, kRingOf40Percent);
  const std::vector<UnitCounts> nodes(2, UnitCounts(2));
  EXPECT_NEAR(model.Rate({"gpu", nodes, {}, {1.2, 1.03, 1.3}}, {}), 3 / 1.242, 1e-6);
}

TEST(PlacedModelTest, OnlyModelsWithSpansMeasureNodes) {
  EXPECT_FALSE(MeasuresNodes(*MakeConstantModel()));
  EXPECT_FALSE(MeasuresNodes(*MakeGpuScalingModel("m", {{"gpu", {{1, 1}}}})));
  EXPECT_TRUE(MeasuresNodes(
      *MakeGpuScalingModel("m", {{"gpu", {{1, 1}}, {1, 1}}, {"gpu", {{2, 1}}, {2, Span::kAny}}})));
}

}  // namespace
}  // namespace allot
