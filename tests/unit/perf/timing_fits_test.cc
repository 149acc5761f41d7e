#include "perf/timing_fits.h"

#include <gtest/gtest.h>

#include <cmath>

#include "perf/goodput_rates.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

constexpr StepTiming kTrue{0.1, 0.01, 0.8, 0.05, 0.2, 0.02, 2};

TimingObservation SeenOn(std::int32_t nodes, GpuCount gpus, double batch) {
  return {nodes > 1, gpus, batch, kTrue.Gradient(batch),
          kTrue.Iteration(nodes > 1, gpus, batch, 0)};
}

TEST(TimingFitsTest, PredictsMeasurements) {
  TimingFits fits;
  EXPECT_EQ(fits.On("t4"), nullptr);
  EXPECT_EQ(fits.most_gpus(), 0);
  for (const GpuCount gpus : {1, 2, 4, 8, 16}) {
    for (const double batch : {16, 64}) {
      fits.Observe("t4", gpus > 4 ? gpus / 4 : 1, SeenOn(gpus > 4 ? gpus / 4 : 1, gpus, batch));
    }
  }
  ASSERT_NE(fits.On("t4"), nullptr);
  EXPECT_EQ(fits.On("a100"), nullptr);
  EXPECT_EQ(fits.most_gpus(), 16);
  EXPECT_EQ(fits.first_type(), "t4");
  const TimingObservation between = SeenOn(3, 12, 32);
  EXPECT_NEAR(fits.On("t4")->Iteration(true, 12, 32, 0) / between.iteration, 1, 0.03);
}

TEST(TimingFitsTest, WhatIsKnownChangesNothing) {
  TimingFits fits;
  EXPECT_TRUE(fits.Observe("t4", 1, SeenOn(1, 1, 16)));
  EXPECT_FALSE(fits.Observe("t4", 1, SeenOn(1, 1, 16))) << "seen before";
  EXPECT_EQ(fits.version(), 1U);
  EXPECT_TRUE(fits.Observe("a100", 1, SeenOn(1, 1, 16))) << "another type";
  EXPECT_EQ(fits.version(), 2U);
}

TEST(TimingFitsTest, PredictedMeasurementsNeedNoFit) {
  TimingFits fits;
  for (const GpuCount gpus : {1, 2, 4}) {
    for (const double batch : {8, 32, 64}) fits.Observe("t4", 1, SeenOn(1, gpus, batch));
  }
  const std::uint64_t before = fits.version();
  EXPECT_FALSE(fits.Observe("t4", 1, SeenOn(1, 3, 48)));
  EXPECT_EQ(fits.version(), before);
}

TEST(TimingFitsTest, TimesThatCannotBeAreRefused) {
  TimingFits fits;
  TimingObservation bad = SeenOn(1, 2, 16);
  bad.gradient = std::nan("");
  ExpectError(ExitCode::kBadData, {"finite and above 0"}, [&] { fits.Observe("t4", 1, bad); });
  EXPECT_TRUE(fits.empty());
}

// Tables by goodput are what choosing the batch of each configuration gives.
TEST(GoodputRatesTest, RatesAreThoseOfTheBestBatches) {
  std::vector<Configuration> configurations;
  for (std::int16_t gpus = 1; gpus <= 8; ++gpus) {
    for (const Span span : {Span{1, 1}, Span{2, Span::kAny}}) {
      if (gpus == 1 && span.least > 1) continue;
      Configuration c;
      c.units = {gpus};
      c.demand = {gpus, 0};
      c.cost = gpus;
      c.rate = 1;
      c.span = span;
      configurations.push_back(c);
    }
  }
  const ConfigurationTable table("job", {{"gpu", {1, 0}}}, configurations);
  const BatchLimits limits{32, 512, 8, 64};
  for (const double fixed : {0.0, 128.0}) {
    GoodputRates rates(MakeGoodputCandidates(
        table, [&](GpuTypeIndex) { return &limits; }, fixed));
    rates.SetTimings([&](GpuTypeIndex) { return &kTrue; });
    for (const GradientStatistics statistics :
         {GradientStatistics{1, 3}, GradientStatistics{0.1, 40}, GradientStatistics{-1, 0.5}}) {
      std::vector<double> got;
      rates.RatesAt(statistics, &got);
      ASSERT_EQ(got.size(), configurations.size());
      for (std::int32_t c = 0; c < table.size(); ++c) {
        const bool several = table[c].span.least > 1;
        const GpuCount gpus = table[c].demand.gpus;
        const std::vector<StatisticsPoint> points = {{32, statistics}};
        const double wanted = fixed > 0
                                  ? FixedBatch(kTrue, limits, points, several, gpus, fixed).rate
                                  : ChooseBatch(kTrue, limits, points, several, gpus).rate;
        EXPECT_NEAR(got[static_cast<std::size_t>(c)], wanted, 1e-12 * wanted)
            << gpus << " GPUs, fixed " << fixed;
      }
    }
  }
}

TEST(GoodputRatesTest, RatesOfMoreGpusThanAskedForAreLeftOut) {
  std::vector<Configuration> configurations;
  for (std::int16_t gpus = 1; gpus <= 4; ++gpus) {
    Configuration c;
    c.units = {gpus};
    c.demand = {gpus, 0};
    c.cost = gpus;
    c.rate = 1;
    configurations.push_back(c);
  }
  const ConfigurationTable table("job", {{"gpu", {1, 0}}}, configurations);
  const BatchLimits limits{32, 512, 8, 64};
  GoodputRates rates(MakeGoodputCandidates(
      table, [&](GpuTypeIndex) { return &limits; }, 0));
  rates.SetTimings([&](GpuTypeIndex) { return &kTrue; });
  std::vector<double> few;
  std::vector<double> all;
  rates.RatesAt({1, 3}, &few, 2);
  rates.RatesAt({1, 3}, &all);
  EXPECT_EQ(few, (std::vector<double>{all[0], all[1], 0, 0}));
  EXPECT_GT(all[3], all[2]);
}

TEST(TimedBatchesTest, TheBestIsThatOfChooseBatch) {
  const BatchLimits limits{32, 512, 8, 64};
  for (const GpuCount gpus : {1, 3, 8}) {
    const TimedBatches timed(kTrue, limits, gpus > 4, gpus);
    for (const GradientStatistics statistics :
         {GradientStatistics{1, 3}, GradientStatistics{0.1, 40}}) {
      const BatchChoice wanted = ChooseBatch(kTrue, limits, {{32, statistics}}, gpus > 4, gpus);
      const BatchChoice got = timed.Best(statistics);
      EXPECT_EQ(got.local_batch, wanted.local_batch);
      EXPECT_EQ(got.accumulation, wanted.accumulation);
      EXPECT_EQ(got.rate, wanted.rate);
    }
  }
}

}  // namespace
}  // namespace allot
