#include "cluster/allocation.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

TEST(Allocation, KeepsEachJobsShares) {
  Allocation allocation;
  const std::vector<NodeShare> first{{0, {2}, 3}, {1, {1}, 1}};
  const std::vector<NodeShare> second{{4, {1}, 8}};
  allocation.Add(7, 2, first);
  allocation.Add(9, 0, second);
  ASSERT_EQ(allocation.entries().size(), 2U);
  EXPECT_EQ(allocation.entries()[1].job, 9);
  const auto shares = allocation.shares(allocation.entries()[0]);
  EXPECT_EQ(std::vector(shares.begin(), shares.end()), first);
  EXPECT_EQ(allocation.shares(allocation.entries()[1])[0], second[0]);
}

TEST(Allocation, EqualityComparesJobsConfigurationsAndShares) {
  const std::vector<NodeShare> here{{0, {1}, 1}};
  const std::vector<NodeShare> there{{0, {1}, 2}};
  const auto make = [](JobIndex job, std::int32_t configuration,
                       const std::vector<NodeShare>& shares) {
    Allocation allocation;
    allocation.Add(job, configuration, shares);
    return allocation;
  };
  EXPECT_EQ(make(1, 0, here), make(1, 0, here));
  EXPECT_FALSE(make(1, 0, here) == make(2, 0, here));
  EXPECT_FALSE(make(1, 0, here) == make(1, 1, here));
  EXPECT_FALSE(make(1, 0, here) == make(1, 0, there));
  EXPECT_FALSE(make(1, 0, here) == Allocation());
}

TEST(Allocation, EqualityComparesWhoHoldsWhichShare) {
  const std::vector<NodeShare> shares{{0, {1}, 1}, {1, {1}, 1}};
  Allocation a;
  a.Add(1, 0, shares);
  a.Add(2, 0, {});
  Allocation b;
  b.Add(1, 0, {});
  b.Add(2, 0, shares);
  EXPECT_FALSE(a == b);
}

TEST(Allocation, ClearForgetsEverything) {
  Allocation allocation;
  allocation.Add(1, 0, std::vector<NodeShare>{{0, {1}, 1}});
  allocation.Clear();
  EXPECT_EQ(allocation, Allocation());
}

}  // namespace
}  // namespace allot
