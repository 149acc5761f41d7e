#include "experiment/whatif/added_nodes.h"

#include <gtest/gtest.h>

#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

const ClusterSpec kTwoTypes = ClusterSpec::Parse("10x8:a10,20x8:a100");

std::string Added(const std::vector<TypeLoad>& loads, const std::string& more) {
  return AddedNodes(kTwoTypes, loads, more).ToString();
}

TEST(AddedNodes, AreATenthOfTheClusterOfTheTypeThatLacks) {
  EXPECT_EQ(Added({{"a10", 80, 1.5}, {"a100", 160, 0}}, ""), "3x8:a10");
  EXPECT_EQ(Added({}, ""), "3x8:a100") << "like most nodes";
  EXPECT_EQ(AddedNodes(ClusterSpec::Parse("2x4"), {}, "").ToString(), "1x4");
  EXPECT_EQ(Added({}, "4x8:h100"), "4x8:h100");
}

TEST(AddedNodes, GoToTheTypeThatIsThenAskedForMost) {
  // 120 and 144 GPUs' worth of work on 80 and 160: after 6 nodes a10 has 128.
  EXPECT_EQ(Added({{"a10", 80, 1.5}, {"a100", 160, 0.9}}, "8"), "7x8:a10,1x8:a100");
}

TEST(AddedNodes, AreLimited) {
  ExpectError(ExitCode::kUsage, {"1 to 100000", "'0'"}, [] { LikeNodes(kTwoTypes, {}, 0); });
  ExpectError(ExitCode::kUsage, {"'100001'"}, [] { AddedNodes(kTwoTypes, {}, "100001"); });
}

TEST(FewestNodes, AreFoundInFewTries) {
  int tries = 0;
  const auto at_least = [&tries](std::int64_t nodes) {
    return [&tries, nodes](std::int64_t n) {
      ++tries;
      return n >= nodes;
    };
  };
  for (const std::int64_t nodes : {0, 1, 2, 3, 7, 63, 64, 65, 100}) {
    EXPECT_EQ(FewestNodes(100, at_least(nodes)), nodes);
  }
  EXPECT_EQ(FewestNodes(100, at_least(101)), std::nullopt);
  tries = 0;
  FewestNodes(100'000, at_least(77'777));
  EXPECT_LT(tries, 40);
}

}  // namespace
}  // namespace allot
