#include "sched/order_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "core/rng.h"

namespace allot {
namespace {

struct Item {
  double key;
  JobIndex job;
  std::int32_t row;
  std::int8_t rank;
};

// Whatever was remembered, the result is the sorted order.
TEST(OrderMemoryTest, SortsLikeSort) {
  Rng rng(3, "order-memory-test");
  OrderMemory memory;
  std::vector<Item> items;
  std::vector<Item> away;
  JobIndex next = 0;
  for (int round = 0; round < 500; ++round) {
    // Some end, some leave for a while, some come.
    std::erase_if(items, [&](const Item&) { return rng.Below(10) == 0; });
    items.insert(items.end(), away.begin(), away.end());
    away.clear();
    if (!items.empty() && rng.Below(3) == 0) {
      away.push_back(items.front());
      items.erase(items.begin());
    }
    for (std::uint64_t i = rng.Below(8); i > 0; --i) items.push_back({0, next++, 0, 1});
    const bool shuffle = rng.Below(20) == 0;  // else keys drift a little, with many ties
    for (Item& item : items) {
      item.row = static_cast<std::int32_t>(&item - items.data());
      if (rng.Below(50) == 0) item.rank = static_cast<std::int8_t>(rng.Below(3));
      item.key = shuffle ? static_cast<double>(rng.Below(1000))
                         : item.key + static_cast<double>(rng.Below(3));
    }
    std::vector<Item> expected = items;
    std::sort(expected.begin(), expected.end(), [](const Item& a, const Item& b) {
      return std::tuple(a.rank, a.key, a.job) < std::tuple(b.rank, b.key, b.job);
    });
    std::vector<std::int32_t> rows;
    std::vector<JobIndex> jobs;
    std::vector<double> keys;
    std::vector<std::int8_t> ranks;
    for (const Item& item : items) {
      rows.push_back(item.row);
      jobs.push_back(item.job);
      keys.push_back(item.key);
      ranks.push_back(item.rank);
    }
    memory.Sort(std::vector(rows), jobs, std::vector(keys), ranks, &rows, &keys);
    ASSERT_EQ(rows.size(), expected.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      ASSERT_EQ(rows[i], expected[i].row) << "round " << round << ", place " << i;
      ASSERT_EQ(keys[i], expected[i].key) << "round " << round << ", place " << i;
    }
    if (rng.Below(100) == 0) memory.Forget();
  }
}

}  // namespace
}  // namespace allot
