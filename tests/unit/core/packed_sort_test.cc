#include "core/packed_sort.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "core/rng.h"

namespace allot {
namespace {

TEST(PackKey, OrdersAsFloatsDo) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> ascending = {-infinity, -3.5F, -1e-30F, 0, 1e-30F, 2, 1e30F, infinity};
  for (std::size_t i = 1; i < ascending.size(); ++i) {
    EXPECT_LT(PackKey(ascending[i - 1], 9), PackKey(ascending[i], 3)) << ascending[i];
  }
  EXPECT_EQ(PackKey(-0.0F, 7), PackKey(0.0F, 7));
}

TEST(SortPacked, EqualsAStableSortByKey) {
  for (const std::size_t n : {0, 1, 77, 499, 500, 5000}) {
    Rng rng(n, "packed-sort");
    std::vector<float> keys(n);
    // Few different ones: ties everywhere.
    for (float& key : keys) key = static_cast<float>(rng.Below(n / 4 + 1)) / 3 - 20;
    std::vector<std::size_t> expected(n);
    std::iota(expected.begin(), expected.end(), 0);
    std::stable_sort(expected.begin(), expected.end(),
                     [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
    std::vector<std::uint64_t> words;
    for (std::size_t i = 0; i < n; ++i) words.push_back(PackKey(keys[i], i));
    std::vector<std::uint64_t> scratch;
    SortPacked(&words, &scratch);
    std::vector<std::size_t> actual;
    for (const std::uint64_t word : words) actual.push_back(PackedIndex(word));
    EXPECT_EQ(actual, expected) << n;
  }
}

}  // namespace
}  // namespace allot
