#include "features/index_action.h"

#include <gtest/gtest.h>

#include <limits>

#include "cluster/validate.h"
#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::AsSet;
using testing_support::World;
using Placed = std::map<JobIndex, std::string>;

class IndexActionTest : public testing::Test {
 protected:
  IndexActionTest() : world_("1x4") {
    world_.Add({{1, 1.9, 2.7, 3.4}});
    world_.Add({{1, 1.9, 2.7, 3.4}});
  }
  Placed Decode(const std::vector<Score>& scores) {
    Allocation allocation;
    IndexAction().Decode(world_.o, scores, &allocation);
    EXPECT_EQ(ValidateAllocation(world_.o, allocation).message(), "");
    return AsSet(allocation);
  }
  World world_;
};

TEST_F(IndexActionTest, ScoresBecomeSizesAndPlaces) {
  EXPECT_EQ(Decode({{}, {}}),
            (Placed{{0, "configuration 1: 0/0x3"}, {1, "configuration 1: 0/0xc"}}));
  EXPECT_EQ(Decode({{}, {.u = 9}}), (Placed{{1, "configuration 3: 0/0xf"}}));
}

TEST_F(IndexActionTest, OutputsAreScoresInRowOrder) {
  Allocation allocation;
  const std::vector<float> outputs = {0, 0.5F, 0, 9, 0.5F, 0};
  IndexAction().Decode(world_.o, outputs, &allocation);
  EXPECT_EQ(AsSet(allocation), Decode({{.beta = 0.5F}, {.u = 9, .beta = 0.5F}}));
}

TEST_F(IndexActionTest, WildScoresCountAsTheBound) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(Decode({{.u = kInfinity}, {}}), Decode({{.u = kScoreBound}, {}}));
  EXPECT_EQ(Decode({{.u = -kInfinity}, {}}), Decode({{.u = -kScoreBound}, {}}));
  EXPECT_EQ(Decode({{kNan, kNan, kNan}, {}}), Decode({{}, {}}));
}

TEST_F(IndexActionTest, NoJobGivesAnEmptyAllocation) {
  World empty("1x1");
  Allocation allocation;
  IndexAction().Decode(empty.o, std::span<const Score>(), &allocation);
  EXPECT_TRUE(allocation.entries().empty());
}

}  // namespace
}  // namespace allot
