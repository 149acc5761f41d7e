#include "stages/fill/sized_hulls.h"

#include <gtest/gtest.h>

#include <cmath>

namespace allot {
namespace {

ConfigurationTable UpTo(std::int16_t most, double exponent) {
  std::vector<Configuration> configurations;
  for (std::int16_t gpus = 1; gpus <= most; ++gpus) {
    Configuration c;
    c.units = {gpus};
    c.demand = {gpus, 0};
    c.cost = gpus;
    c.rate = std::pow(gpus, exponent);
    configurations.push_back(c);
  }
  return {"job", {{"gpu", {1, 0}}}, std::move(configurations)};
}

std::vector<int> Sizes(const ConfigurationTable& table, const std::vector<HullStep>& steps) {
  std::vector<int> sizes;
  sizes.reserve(steps.size());
  for (const HullStep& step : steps) sizes.push_back(table[step.to].demand.gpus);
  return sizes;
}

TEST(SizedHullsTest, StepsAreOfTheGivenSizes) {
  const ConfigurationTable table = UpTo(12, 0.7);
  SizedHulls hulls({1, 2, 4, 8, 16});
  EXPECT_EQ(Sizes(table, hulls.Of(table, 0)), (std::vector<int>{1, 2, 4, 8}));
  EXPECT_TRUE(hulls.Has(4));
  EXPECT_FALSE(hulls.Has(3));
}

TEST(SizedHullsTest, WithAllSizesTheyAreTheTablesOwn) {
  const ConfigurationTable table = UpTo(9, 0.8);
  SizedHulls all({1, 2, 3, 4, 5, 6, 7, 8, 9});
  const auto& steps = all.Of(table, 0);
  const auto& own = table.hull(0);
  ASSERT_EQ(steps.size(), own.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    EXPECT_EQ(steps[i].to, own[i].to);
    EXPECT_EQ(steps[i].log_gain, own[i].log_gain);
    EXPECT_EQ(steps[i].log_mid, own[i].log_mid);
    EXPECT_EQ(steps[i].most, own[i].most);
  }
  SizedHulls any({});
  EXPECT_EQ(&any.Of(table, 0), &table.hull(0));
}

TEST(SizedHullsTest, TheyFollowRatesAndWhatIsTrusted) {
  ConfigurationTable table = UpTo(8, 0.7);
  SizedHulls hulls({1, 2, 4, 8});
  EXPECT_EQ(hulls.Of(table, 0).size(), 4U);
  std::vector<double> rates;
  for (const Configuration& c : table.configurations()) rates.push_back(c.rate);
  table.Renew(rates, {2});
  EXPECT_EQ(Sizes(table, hulls.Of(table, 0)), (std::vector<int>{1, 2}));
}

TEST(SizedHullsTest, AJobWithoutSuchASizeHasItsOwn) {
  Configuration c;
  c.units = {6};
  c.demand = {6, 0};
  c.cost = 6;
  c.rate = 1;
  const ConfigurationTable rigid("job", {{"gpu", {1, 0}}}, {c});
  SizedHulls hulls({1, 2, 4});
  EXPECT_EQ(&hulls.Of(rigid, 0), &rigid.hull(0));
}

}  // namespace
}  // namespace allot
