#include "core/ranks.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <tuple>

#include "core/rng.h"

namespace allot {
namespace {

std::vector<std::int32_t> Expected(const std::vector<float>& values,
                                   const std::vector<std::int32_t>& ids) {
  std::vector<std::int32_t> places(values.size(), 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = 0; j < values.size(); ++j) {
      places[i] += std::tie(values[j], ids[j]) < std::tie(values[i], ids[i]) ? 1 : 0;
    }
  }
  return places;
}

std::vector<std::int32_t> Actual(Ranks* ranks, const std::vector<float>& values,
                                 const std::vector<std::int32_t>& ids) {
  const auto places = ranks->Of(values, ids);
  return {places.begin(), places.end()};
}

// With ties, negative ones and both zeros.
TEST(RanksTest, AreThePlacesInAscendingOrder) {
  Ranks ranks;
  Rng rng(1, "ranks-test");
  for (const std::size_t count : {0, 1, 7, 8, 9, 50, 255, 256, 257, 900}) {
    std::vector<float> values(count);
    std::vector<std::int32_t> ids(count);
    for (float& value : values) value = (static_cast<float>(rng.Below(40)) - 20) / 8;
    if (count > 2) values[2] = -0.0F;
    std::iota(ids.begin(), ids.end(), 5);
    EXPECT_EQ(Actual(&ranks, values, ids), Expected(values, ids)) << count << " values";
    std::iota(ids.rbegin(), ids.rend(), 0);
    EXPECT_EQ(Actual(&ranks, values, ids), Expected(values, ids)) << count << ", ids descend";
  }
}

TEST(RanksTest, AreThoseOfTheseValuesWhateverCameBefore) {
  Ranks ranks;
  Rng rng(2, "ranks-test");
  for (const std::size_t count : {60, 700}) {
    std::vector<float> values(count);
    std::vector<std::int32_t> ids(count);
    std::iota(ids.begin(), ids.end(), 0);
    for (const double change : {10.0, 0.001, 0.1, 1.0, 0.0, 10.0}) {
      for (float& value : values) value += static_cast<float>(change * rng.Normal());
      EXPECT_EQ(Actual(&ranks, values, ids), Expected(values, ids)) << count << ", " << change;
    }
  }
}

TEST(RanksTest, WhatIsNoNumberComesLast) {
  Ranks ranks;
  const float none = std::numeric_limits<float>::quiet_NaN();
  const float infinite = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Actual(&ranks, {none, infinite, -infinite}, {0, 1, 2}),
            (std::vector<std::int32_t>{2, 1, 0}));
}

}  // namespace
}  // namespace allot
