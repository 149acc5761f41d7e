#include "sched/order_memory.h"

#include <gtest/gtest.h>

#include "core/rng.h"

namespace allot {
namespace {

struct Item {
  double key;
  JobIndex job;
};

// Whatever was remembered, the result is the sorted order.
TEST(OrderMemoryTest, SortsLikeSort) {
  const auto before = [](const Item& a, const Item& b) {
    return a.key != b.key ? a.key < b.key : a.job < b.job;
  };
  Rng rng(3, "order-memory-test");
  OrderMemory<Item> memory;
  std::vector<Item> items;
  JobIndex next = 0;
  for (int round = 0; round < 500; ++round) {
    std::erase_if(items, [&](const Item&) { return rng.Below(10) == 0; });
    for (std::uint64_t i = rng.Below(8); i > 0; --i) items.push_back({0, next++});
    const bool shuffle = rng.Below(20) == 0;  // else keys drift a little, with many ties
    for (Item& item : items) {
      item.key = shuffle ? static_cast<double>(rng.Below(1000))
                         : item.key + static_cast<double>(rng.Below(3));
    }
    std::vector<Item> expected = items;
    std::sort(expected.begin(), expected.end(), before);
    memory.Sort(&items, before);
    ASSERT_EQ(items.size(), expected.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      ASSERT_EQ(items[i].job, expected[i].job) << "round " << round << ", place " << i;
    }
  }
}

}  // namespace
}  // namespace allot
