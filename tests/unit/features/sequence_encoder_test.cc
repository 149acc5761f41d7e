#include "features/sequence_encoder.h"

#include <gtest/gtest.h>

#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::World;

class SequenceEncoderTest : public testing::Test {
 protected:
  // Rates of 1 .. 4 GPUs: a dip at 2, which a look one step ahead does not see over.
  SequenceEncoderTest() : world_("1x8") {
    world_.Add({{1.0, 0.9, 2.4, 2.5}});
    world_.o.estimated_work[0] = 600;
  }
  const float* Standing(const SequenceEncoder& encoder) const {
    return encoder.jobs().data() + kJobFeatures;
  }

  World world_;
  SequenceAction state_{SequenceAction::kAllJobs};
};

TEST_F(SequenceEncoderTest, SpeedFeaturesSayWhatTheTableSays) {
  SequenceEncoder encoder(SequenceFeatures::kSpeed, {}, true, {});
  state_.Begin(world_.o);
  encoder.Begin(world_.o);
  encoder.EncodeWindow(state_, state_.slots());
  EXPECT_FLOAT_EQ(Standing(encoder)[5], 1.0F) << "first GPU: the reference itself";
  ASSERT_TRUE(state_.Take(0));
  encoder.Update(state_, 0);
  EXPECT_NEAR(Standing(encoder)[1], 1.0 / 2.5, 1e-6) << "rate / best rate";
  EXPECT_NEAR(Standing(encoder)[5], -0.1, 1e-6) << "one step ahead";
  EXPECT_NEAR(Standing(encoder)[8], 0.7, 1e-6) << "three GPUs: 1.4 more for 2 more";
  EXPECT_NEAR(encoder.context()[kClusterFeatures], 7.0 / 8, 1e-6) << "GPUs left";
}

TEST_F(SequenceEncoderTest, Dl2FeaturesAreThoseOfThePaper) {
  SequenceEncoder encoder(SequenceFeatures::kDl2, {"other", "test"}, false, {});
  world_.o.now = world_.o.submit[0] + 4 * world_.o.interval;
  world_.o.done_work[0] = 150;
  state_.Begin(world_.o);
  ASSERT_TRUE(state_.Take(0));
  encoder.Begin(world_.o);
  encoder.EncodeWindow(state_, 2);
  const std::vector<float> expected = {0, 1, 4, 0.75F, 1.0F / 8, 1, 0};
  ASSERT_EQ(encoder.jobs().size(), 2 * expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_FLOAT_EQ(encoder.jobs()[i], expected[i]) << "feature " << i;
    EXPECT_EQ(encoder.jobs()[expected.size() + i], 0.0F) << "empty slot, feature " << i;
  }
}

TEST_F(SequenceEncoderTest, AnUpdateIsWhatEncodingAnewGives) {
  world_.Add({{1.0, 1.8, 2.4}});
  SequenceEncoder updated(SequenceFeatures::kSpeed, {}, true, {});
  SequenceEncoder anew(SequenceFeatures::kSpeed, {}, true, {});
  state_.Begin(world_.o);
  updated.Begin(world_.o);
  anew.Begin(world_.o);
  updated.EncodeWindow(state_, state_.slots());
  for (const int slot : {1, 0, 1}) {
    ASSERT_TRUE(state_.Take(slot * SequenceAction::kKinds));
    updated.Update(state_, slot);
    anew.EncodeWindow(state_, state_.slots());
    EXPECT_EQ(updated.jobs(), anew.jobs());
    EXPECT_EQ(updated.context(), anew.context());
  }
}

}  // namespace
}  // namespace allot
