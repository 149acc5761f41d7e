#include "core/packed_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

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

void ExpectSorted(const std::vector<float>& keys) {
  std::vector<std::uint64_t> words;
  for (std::size_t i = 0; i < keys.size(); ++i) words.push_back(PackKey(keys[i], i));
  std::vector<std::uint64_t> expected = words;
  std::sort(expected.begin(), expected.end());
  std::vector<std::uint64_t> scratch;
  SortPacked(&words, &scratch);
  EXPECT_EQ(words, expected) << keys.size() << " keys";
}

template <typename Key>
void ExpectSortedFor(const Key& key) {
  for (const std::size_t n : {0, 1, 31, 32, 77, 499, 500, 5000, 20000}) {
    Rng rng(n, "packed-sort");
    std::vector<float> keys(n);
    for (float& each : keys) each = static_cast<float>(key(&rng, n));
    ExpectSorted(keys);
  }
}

TEST(PackedKey, IsWhatWasPacked) {
  for (const float key : {-1e30F, -2.5F, 0.0F, 1e-30F, 3.5F}) {
    EXPECT_EQ(PackedKey(PackKey(key, 5)), key);
  }
}

TEST(SortPacked, KeysThatSpread) {
  ExpectSortedFor([](Rng* rng, std::size_t) { return rng->Normal(); });
}

TEST(SortPacked, KeysOfWhichManyAreEqual) {
  ExpectSortedFor(
      [](Rng* rng, std::size_t n) { return static_cast<double>(rng->Below(n / 4 + 1)) / 3 - 20; });
  ExpectSortedFor([](Rng*, std::size_t) { return 7; });
}

TEST(SortPacked, KeysThatCrowd) {
  ExpectSortedFor([](Rng* rng, std::size_t) { return std::exp(20 * rng->Normal()); });
}

TEST(SortPacked, KeysThatAreNotFinite) {
  ExpectSortedFor([](Rng* rng, std::size_t) {
    return rng->Below(5) == 0 ? std::numeric_limits<double>::infinity() : rng->Normal();
  });
}

}  // namespace
}  // namespace allot
