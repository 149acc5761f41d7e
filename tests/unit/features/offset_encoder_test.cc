#include "features/offset_encoder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/index.h"
#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::World;

// A job that is twice as fast on the first type and scales well, one that waits and goes nowhere
// else and scales badly.
class OffsetFeatures : public testing::Test {
 protected:
  OffsetFeatures() : world_("1x4:fast,2x4:slow") {
    world_.o.now = 3000;
    const auto row = world_.Add({{2, 4, 6, 8}, {1, 2, 3, 4}});
    world_.o.restart_cost[0] = 60;
    world_.Run(row, world_.o.table[0]->Find({2}, 1), {{1, 0b11}});
    world_.Add({{1, 1.1, 1.2, 1.3}});
    const std::vector<Score> scores = {{2, 0, 0}, {-1, 0, 0}};
    OffsetEncoder().Encode(world_.o, scores, &batch_);
  }
  float Of(int row, OffsetFeature feature) const {
    return batch_.jobs[At(row) * kOffsetJobFeatures + kJobFeatures + At(feature)];
  }
  float OfWorld(int place) const {
    return batch_.context[kOffsetJobFeatures + kClusterFeatures + At(place)];
  }

  World world_;
  FeatureBatch batch_;
};

TEST_F(OffsetFeatures, SayWhatTypesMean) {
  EXPECT_FLOAT_EQ(Of(0, kTypeRange), std::log(2.0F));
  EXPECT_FLOAT_EQ(Of(0, kTypeMean), std::log(0.75F));
  EXPECT_FLOAT_EQ(Of(0, kTypeNow), std::log(0.5F));
  EXPECT_FLOAT_EQ(Of(0, kTypesMissing), 0);
  EXPECT_FLOAT_EQ(Of(1, kTypeRange), 0);
  EXPECT_FLOAT_EQ(Of(1, kTypesMissing), 0.5F);
}

TEST_F(OffsetFeatures, SayHowJobsScale) {
  EXPECT_NEAR(Of(0, kScaling), 0, 1e-6);
  EXPECT_FLOAT_EQ(Of(1, kScaling), std::log(1.3F / 4));
}

TEST_F(OffsetFeatures, SayWhatTheIndexGivesAndWhatARestartCosts) {
  EXPECT_FLOAT_EQ(Of(0, kRuleU), 1.5F);
  EXPECT_FLOAT_EQ(Of(1, kRuleU), -1.5F);
  EXPECT_FLOAT_EQ(Of(0, kRestart), 0.2F);
}

// The job on two types asks for GPUs of its best, the first; of the second type more are left.
TEST_F(OffsetFeatures, SayWhichTypesAreWanted) {
  const double asked = (*world_.o.table[0])[world_.o.requested[0]].demand.gpus +
                       (*world_.o.table[1])[world_.o.requested[1]].demand.gpus;
  EXPECT_FLOAT_EQ(Of(0, kWanted), static_cast<float>(std::log1p(asked / 4)));
  EXPECT_FLOAT_EQ(Of(0, kSpared), -Of(0, kWanted));
  EXPECT_FLOAT_EQ(Of(1, kSpared), 0);
}

TEST_F(OffsetFeatures, SayHowScalingChanges) {
  OffsetEncoder encoder;
  const std::vector<Score> scores(2);
  encoder.Encode(world_.o, scores, &batch_);
  EXPECT_FLOAT_EQ(Of(1, kTrend), 0);
  const float before = Of(1, kWidest);
  world_.o.table[1] = world_.o.table[0];
  encoder.Encode(world_.o, scores, &batch_);
  EXPECT_FLOAT_EQ(Of(1, kTrend), Of(1, kWidest) - before);
}

TEST_F(OffsetFeatures, SayWhichTypesAreInUse) {
  EXPECT_FLOAT_EQ(OfWorld(0), std::log(2.0F));
  EXPECT_FLOAT_EQ(OfWorld(4), 0);
  EXPECT_FLOAT_EQ(OfWorld(5), 0.25F);
}

TEST_F(OffsetFeatures, RenewedAndDistrustedRatesAreSeen) {
  auto* table = const_cast<ConfigurationTable*>(world_.o.table[1]);
  const std::vector<double> rates = {1, 1.1, 1.2, 1.3};
  table->Renew(rates, UnitCounts(2));
  const std::vector<Score> scores(2);
  OffsetEncoder().Encode(world_.o, scores, &batch_);
  EXPECT_FLOAT_EQ(Of(1, kTrusted), std::log(0.5F));
  EXPECT_FLOAT_EQ(Of(1, kMeasured), std::log(2.0F));
  EXPECT_FLOAT_EQ(Of(1, kScaling), 0) << "four GPUs are a guess";
  EXPECT_FLOAT_EQ(Of(0, kTrusted), 0);
}

TEST(OffsetFeatureNames, AreOneEach) {
  EXPECT_EQ(OffsetEncoder::OwnNames().size(), static_cast<std::size_t>(kOffsetOwn));
  EXPECT_EQ(OffsetEncoder::WorldNames().size(), static_cast<std::size_t>(kOffsetWorld));
}

TEST(OffsetFeaturesOfNothing, AreZero) {
  World world("1x4");
  FeatureBatch batch;
  OffsetEncoder().Encode(world.o, {}, &batch);
  EXPECT_TRUE(batch.jobs.empty());
  EXPECT_EQ(batch.context, std::vector<float>(kOffsetContext, 0.0F));
}

}  // namespace
}  // namespace allot
