#include "core/natural_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace allot {
namespace {

TEST(NaturalOrderTest, NamesStandAsPeopleCount) {
  const std::vector<std::string> expected = {"",      "0", "1",   "09", "9",  "10",  "42_7",
                                             "42_10", "a", "a-2", "n",  "n2", "n10", "n10b"};
  std::vector<std::string> names = expected;
  std::shuffle(names.begin(), names.end(), std::minstd_rand(1));
  std::sort(names.begin(), names.end(), NaturalOrder());
  EXPECT_EQ(names, expected);
}

TEST(NaturalOrderTest, NumbersMayBeOfAnyLength) {
  const std::string ones(30, '1');
  EXPECT_TRUE(NaturalOrder()("n" + ones, "n2" + ones));
  EXPECT_FALSE(NaturalOrder()("n2" + ones, "n" + ones));
}

TEST(NaturalOrderTest, NoTwoNamesAreTheSame) {
  const std::set<std::string, NaturalOrder> names = {"7", "07", "007", "n", "n0", "n00"};
  EXPECT_EQ(names.size(), 6U);
}

}  // namespace
}  // namespace allot
