#include "perf/configuration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/rng.h"

namespace allot {
namespace {

const std::vector<UnitKind> kGpuKind{{"gpu", {1, 0}}};

Configuration Gpus(std::int16_t gpus, double rate, GpuTypeIndex type = 0) {
  Configuration c;
  c.units = {gpus};
  c.gpu_type = type;
  c.demand = {gpus, 0};
  c.cost = gpus;
  c.rate = rate;
  return c;
}

// Random tables: 1 to 3 types, 1 to 20 counts each in random order, rates that need not rise.
ConfigurationTable RandomTable(std::uint64_t trial) {
  Rng rng(7, "configuration_test", trial);
  std::vector<Configuration> configurations;
  const auto types = 1 + rng.Below(3);
  for (std::uint64_t type = 0; type < types; ++type) {
    const auto counts = 1 + rng.Below(20);
    for (std::uint64_t i = 0; i < counts; ++i) {
      const auto gpus = static_cast<std::int16_t>(1 + rng.Below(64));
      const bool known =
          std::any_of(configurations.begin(), configurations.end(), [&](const Configuration& c) {
            return c.gpu_type == static_cast<GpuTypeIndex>(type) && c.units == UnitCounts(gpus);
          });
      if (!known) {
        configurations.push_back(Gpus(gpus,
                                      std::pow(gpus, rng.Uniform(0, 1.2)) * rng.Uniform(0.5, 2),
                                      static_cast<GpuTypeIndex>(type)));
      }
    }
  }
  return ConfigurationTable("random", kGpuKind, std::move(configurations));
}

template <typename Check>
void ForEachHull(Check check) {
  for (std::uint64_t trial = 0; trial < 500; ++trial) {
    SCOPED_TRACE(trial);
    const ConfigurationTable table = RandomTable(trial);
    for (const GpuTypeIndex type : table.types()) check(table, type);
  }
}

TEST(Hull, StepsChainFromNothingWithStrictlyFallingGain) {
  ForEachHull([](const ConfigurationTable& table, GpuTypeIndex type) {
    std::int32_t at = -1;
    float gain = INFINITY;
    for (const HullStep& step : table.hull(type)) {
      ASSERT_EQ(step.from, at);
      ASSERT_LT(step.log_gain, gain);
      ASSERT_EQ(table[step.to].gpu_type, type);
      at = step.to;
      gain = step.log_gain;
    }
    ASSERT_GE(at, 0);
  });
}

TEST(Hull, StepsKnowTheirCostAndTheMostDemandSoFar) {
  ForEachHull([](const ConfigurationTable& table, GpuTypeIndex type) {
    Resources most;
    for (const HullStep& step : table.hull(type)) {
      const Resources& demand = table[step.to].demand;
      most = {std::max(most.gpus, demand.gpus), std::max(most.cpus, demand.cpus)};
      ASSERT_EQ(step.cost, table[step.to].cost);
      ASSERT_EQ(step.most, most);
    }
  });
}

TEST(Hull, NoConfigurationLiesAboveIt) {
  ForEachHull([](const ConfigurationTable& table, GpuTypeIndex type) {
    for (const Configuration& c : table.configurations()) {
      if (c.gpu_type != type) continue;
      double bound = table[table.hull(type).back().to].rate;
      for (const HullStep& step : table.hull(type)) {
        const double cost = step.from < 0 ? 0 : table[step.from].cost;
        const double rate = step.from < 0 ? 0 : table[step.from].rate;
        if (c.cost < cost || c.cost > table[step.to].cost) continue;
        bound =
            rate + (table[step.to].rate - rate) * (c.cost - cost) / (table[step.to].cost - cost);
      }
      ASSERT_LE(c.rate, bound * (1 + 1e-5)) << c.cost << " GPUs";
    }
  });
}

TEST(Hull, FirstStepIsTheMostEfficientConfigurationOfTheType) {
  ForEachHull([](const ConfigurationTable& table, GpuTypeIndex type) {
    double best = 0;
    for (const Configuration& c : table.configurations()) {
      if (c.gpu_type == type) best = std::max(best, c.rate / c.cost);
    }
    const Configuration& first = table[table.hull(type).front().to];
    ASSERT_NEAR(first.rate / first.cost, best, best * 1e-5);
  });
}

TEST(Hull, EndsAtTheFastestConfigurationOfTheType) {
  ForEachHull([](const ConfigurationTable& table, GpuTypeIndex type) {
    double best = 0;
    for (const Configuration& c : table.configurations()) {
      if (c.gpu_type == type) best = std::max(best, c.rate);
    }
    ASSERT_EQ(table[table.hull(type).back().to].rate, best);
  });
}

TEST(Hull, GainAndMidAreRelativeToTheReference) {
  const ConfigurationTable table("t", kGpuKind, {Gpus(4, 30), Gpus(2, 20)});
  const auto& hull = table.hull(0);
  ASSERT_EQ(hull.size(), 2U);
  EXPECT_FLOAT_EQ(hull[0].log_gain, std::log(0.5F));          // (20 / 2) / 20
  EXPECT_FLOAT_EQ(hull[0].log_mid, std::log(0.5F));           // (20 + 0) / 2 / 20
  EXPECT_FLOAT_EQ(hull[1].log_gain, std::log(0.25F));         // (10 / 2) / 20
  EXPECT_FLOAT_EQ(hull[1].log_mid, std::log(25.0F / 20.0F));  // (30 + 20) / 2 / 20
}

TEST(Hull, PointsOnALineMakeOneStep) {
  const ConfigurationTable table("t", kGpuKind, {Gpus(1, 0.1), Gpus(2, 0.2), Gpus(3, 0.3)});
  ASSERT_EQ(table.hull(0).size(), 1U);
  EXPECT_EQ(table[table.hull(0)[0].to].cost, 3);
}

TEST(Hull, OfATypeWithoutConfigurationsIsEmpty) {
  const ConfigurationTable table("t", kGpuKind, {Gpus(1, 1, 1)});
  EXPECT_TRUE(table.hull(0).empty());
  EXPECT_TRUE(table.hull(9).empty());
}

TEST(ConfigurationTable, FindsEveryConfigurationAndNothingElse) {
  for (std::uint64_t trial = 0; trial < 100; ++trial) {
    SCOPED_TRACE(trial);
    const ConfigurationTable table = RandomTable(trial);
    for (std::int32_t i = 0; i < table.size(); ++i) {
      ASSERT_EQ(table.Find(table[i].units, table[i].gpu_type), i);
    }
    ASSERT_EQ(table.Find({65}, 0), -1);
    ASSERT_EQ(table.Find({1}, 3), -1);
  }
}

TEST(ConfigurationTable, FindDistinguishesKinds) {
  Configuration wide = Gpus(1, 1);
  wide.units = {1, 2};
  wide.cost = 1;
  Configuration narrow = Gpus(2, 3);
  narrow.units = {2, 1};
  const ConfigurationTable table("t", {{"worker", {1, 2}}, {"ps", {0, 2}}}, {wide, narrow});
  EXPECT_EQ(table.Find({1, 2}, 0), 0);
  EXPECT_EQ(table.Find({2, 1}, 0), 1);
  EXPECT_EQ(table.Find({1, 1}, 0), -1);
}

// 4 GPUs on one node, on several, and beside a partner.
ConfigurationTable SpanTable() {
  Configuration near = Gpus(4, 10);
  near.span = {1, 1};
  Configuration far = Gpus(4, 6);
  far.span = {2, Span::kAny};
  Configuration beside = Gpus(4, 12);
  beside.partner = 0;
  return ConfigurationTable("t", kGpuKind, {beside, far, near, Gpus(1, 3)},
                            ConfigurationTable::kNoLimits, {"other"});
}

TEST(ConfigurationTable, EqualUnitsMayDifferInSpan) {
  const ConfigurationTable table = SpanTable();
  const std::int32_t near = table.Find({4}, 0);
  EXPECT_EQ(table[near].span, (Span{1, 1}));  // the fastest that is alone on its GPUs
  const std::int32_t far = table.Slower(near);
  EXPECT_EQ(table[far].span, (Span{2, Span::kAny}));
  EXPECT_EQ(table.Slower(far), -1);
  EXPECT_EQ(table.Find({4}, 0, 1), near);
  EXPECT_EQ(table.Find({4}, 0, 3), far);
  EXPECT_EQ(table.Slower(table.Find({1}, 0)), -1);
  EXPECT_TRUE(table.has_spans());
  for (std::int32_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(table.Find(table[i].key()), i);
    EXPECT_EQ(table.FindText(table.KeyText(i, {"v100"}), {"v100"}), i);
  }
}

TEST(ConfigurationTable, SizesAndBestRatesAreOfJobsAlone) {
  const ConfigurationTable table = SpanTable();
  EXPECT_EQ(table.best_rate(), 10);
  EXPECT_EQ(table[table.hull(0).back().to].rate, 10);
  for (const std::int32_t i : table.fastest()) EXPECT_EQ(table[i].partner, kNoPartner);
}

TEST(ConfigurationTable, RenewingRatesKeepsTheLayout) {
  ConfigurationTable table = SpanTable();
  const std::uint64_t layout = table.layout();
  const std::uint64_t before = table.fingerprint();
  std::vector<double> rates;
  for (const Configuration& c : table.configurations()) {
    rates.push_back(c.span == Span{1, 1} ? 5 : c.rate);
  }
  table.Renew(rates);
  EXPECT_EQ(table.version(), 1U);
  EXPECT_EQ(table.layout(), layout);
  EXPECT_NE(table.fingerprint(), before);
  EXPECT_EQ(table.best_rate(), 6);
  EXPECT_EQ(table[table.Find({4}, 0)].span, (Span{2, Span::kAny}));  // is faster now
  EXPECT_EQ(table.RateOf({4}, 0), 6);
  EXPECT_EQ(table.hull(0).size(), 2U);
  EXPECT_EQ(table.version(), 1U);
}

TEST(ConfigurationTable, WhatIsNotTrustedIsLeftOutButMayBeHeld) {
  ConfigurationTable table("trusted", kGpuKind, {Gpus(1, 1), Gpus(2, 1.9), Gpus(4, 3.6)});
  const std::uint64_t before = table.fingerprint();
  table.Renew(std::vector<double>{1, 1.9, 3.6}, {2});
  EXPECT_NE(table.fingerprint(), before);
  EXPECT_EQ(table.best_rate(), 1.9);
  EXPECT_EQ(table[table.hull(0).back().to].units, UnitCounts(2));
  EXPECT_EQ(table.fastest().size(), 2U);
  EXPECT_TRUE(table.Allocatable(2));
  EXPECT_EQ(table[2].rate, 3.6);
  table.Renew(std::vector<double>{1, 1.9, 3.6}, ConfigurationTable::kNoLimits);
  EXPECT_EQ(table.fingerprint(), before);
  EXPECT_EQ(table.best_rate(), 3.6);
}

TEST(ConfigurationTable, SaysHowFarItsRatesMayBeOff) {
  ConfigurationTable table("spread", kGpuKind, {Gpus(1, 1), Gpus(2, 1.9), Gpus(4, 3.6)});
  const std::uint64_t known = table.fingerprint();
  const std::vector<double> rates{1, 1.9, 3.6};
  EXPECT_EQ(table.spread(2), 0);
  table.Renew(rates, ConfigurationTable::kNoLimits, std::vector<float>{0, 0.25F, 0.5F});
  EXPECT_NE(table.fingerprint(), known);
  EXPECT_EQ(table.spread(2), 0.5F);
  const std::vector<HullStep>& hull = table.hull(0);
  EXPECT_EQ(hull[0].unknown, 0) << "a first step finds nothing out that waiting would not";
  EXPECT_EQ(hull[1].unknown, 0.25F);
  EXPECT_EQ(hull[2].unknown, 0) << "beyond the first unknown one";
  table.Renew(rates, ConfigurationTable::kNoLimits, {});
  EXPECT_EQ(table.fingerprint(), known);
}

// What a table says of rates is the same whether they were given at first or later.
TEST(ConfigurationTable, RenewedTablesAreAsMadeAnew) {
  for (std::uint64_t trial = 0; trial < 100; ++trial) {
    SCOPED_TRACE(trial);
    ConfigurationTable renewed = RandomTable(trial);
    Rng rng(1, "renew", trial);
    std::vector<Configuration> others = renewed.configurations();
    std::vector<double> rates;
    rates.reserve(others.size());
    for (Configuration& c : others) rates.push_back(c.rate = rng.Uniform(0.1, 10));
    renewed.Renew(rates);
    const ConfigurationTable made("random", kGpuKind, others);
    ASSERT_EQ(renewed.fingerprint(), made.fingerprint());
    ASSERT_EQ(renewed.types(), made.types());
    ASSERT_EQ(renewed.fastest(), made.fastest());
    ASSERT_EQ(renewed.best_rate(), made.best_rate());
    ASSERT_EQ(renewed.best_efficiency(), made.best_efficiency());
    ASSERT_EQ(renewed.reference_rate(), made.reference_rate());
    ASSERT_EQ(renewed.max_hull_cost(), made.max_hull_cost());
    for (const GpuTypeIndex type : made.types()) {
      ASSERT_EQ(renewed.hull(type).size(), made.hull(type).size());
      for (std::size_t i = 0; i < made.hull(type).size(); ++i) {
        ASSERT_EQ(renewed.hull(type)[i].to, made.hull(type)[i].to);
        ASSERT_EQ(renewed.hull(type)[i].log_gain, made.hull(type)[i].log_gain);
      }
    }
  }
}

TEST(ConfigurationTable, FingerprintsTellTablesApart) {
  const auto print = [](const char* name, std::vector<Configuration> all,
                        UnitCounts limits = ConfigurationTable::kNoLimits) {
    return ConfigurationTable(name, kGpuKind, std::move(all), limits).fingerprint();
  };
  const std::uint64_t one = print("t", {Gpus(1, 1), Gpus(2, 1.5)});
  EXPECT_EQ(one, print("t", {Gpus(2, 1.5), Gpus(1, 1)}));
  EXPECT_NE(one, print("u", {Gpus(1, 1), Gpus(2, 1.5)}));
  EXPECT_NE(one, print("t", {Gpus(1, 1), Gpus(2, 1.5000000000000002)}));
  EXPECT_NE(one, print("t", {Gpus(1, 1), Gpus(2, -1.5)}));
  EXPECT_NE(one, print("t", {Gpus(1, 1), Gpus(2, 1.5)}, {1}));
  Configuration near = Gpus(2, 1.5);
  near.span = {1, 1};
  EXPECT_NE(one, print("t", {Gpus(1, 1), near}));
}

TEST(ConfigurationTable, ReferenceIsTheCheapestOfTheFastestType) {
  const ConfigurationTable table(
      "t", kGpuKind, {Gpus(2, 8, 0), Gpus(1, 5, 0), Gpus(1, 6, 2), Gpus(4, 7, 2), Gpus(1, 5, 1)});
  EXPECT_EQ(table.types(), (std::vector<GpuTypeIndex>{2, 0, 1}));  // equal rates: by index
  EXPECT_EQ(table.reference_rate(), 6);
  EXPECT_EQ(table.reference_cost(), 1);
  EXPECT_EQ(table.best_rate(), 8);
  EXPECT_EQ(table.best_efficiency(), 6);
  EXPECT_EQ(table.max_hull_cost(), 4);
}

TEST(ConfigurationTable, RefusesWhatWouldBreakItsContract) {
  EXPECT_THROW(ConfigurationTable("t", kGpuKind, {}), std::logic_error);
  EXPECT_THROW(ConfigurationTable("t", kGpuKind, {Gpus(1, 0)}), std::logic_error);
  EXPECT_THROW(ConfigurationTable("t", kGpuKind, {Gpus(1, 1), Gpus(1, 2)}), std::logic_error);
}

}  // namespace
}  // namespace allot
