#include "elastic/state_route.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace allot {
namespace {

const std::vector<int> kRanks{0, 2, 3, 5, 6};

StateRoute IsSent(int from, int to, std::vector<int> readers = {}) {
  return {.from = from, .reads = false, .to = to, .readers = std::move(readers)};
}
StateRoute Reads(int from) { return {.from = from, .reads = true, .to = -1, .readers = {}}; }

TEST(StateRouteTest, OneOfEachHostIsSentTheStateAndTheOthersReadIt) {
  const std::vector<std::string> hosts{"a", "b", "a", "b", "c"};
  EXPECT_EQ(RouteOf(0, kRanks, hosts), IsSent(-1, 2, {3}));
  EXPECT_EQ(RouteOf(2, kRanks, hosts), IsSent(0, 6, {5}));
  EXPECT_EQ(RouteOf(3, kRanks, hosts), Reads(0));
  EXPECT_EQ(RouteOf(5, kRanks, hosts), Reads(2));
  EXPECT_EQ(RouteOf(6, kRanks, hosts), IsSent(2, -1));
}

TEST(StateRouteTest, WithoutHostsAllAreSentItOneAfterAnother) {
  const std::vector<std::string> hosts(kRanks.size());
  EXPECT_EQ(RouteOf(0, kRanks, hosts), IsSent(-1, 2));
  EXPECT_EQ(RouteOf(2, kRanks, hosts), IsSent(0, 3));
  EXPECT_EQ(RouteOf(6, kRanks, hosts), IsSent(5, -1));
}

TEST(StateRouteTest, WhereNobodyLacksItNothingIsSent) {
  EXPECT_EQ(RouteOf(0, std::vector<int>{0}, std::vector<std::string>{"a"}), StateRoute{});
}

}  // namespace
}  // namespace allot
