#include "perf/goodput_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "perf/catalogue.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

// A pass takes 0.1 s and 0.01 s a sample; synchronisation 0.2 + 0.02 (K - 2) s on one node, 0.8 +
// 0.1 (K - 2) s on several; nothing overlaps.
constexpr StepTiming kTiming{0.1, 0.01, 0.8, 0.1, 0.2, 0.02, 1};
constexpr BatchLimits kLimits{32, 256, 8, 64};

std::vector<StatisticsPoint> Noise(double noise_scale) {
  return {{kLimits.initial, GradientStatistics::OfNoiseScale(noise_scale, kLimits.initial)}};
}

TEST(GoodputModelTest, AnIterationIsItsPassesAndOneSynchronisation) {
  EXPECT_NEAR(kTiming.Iteration(false, 4, 10, 0), 0.2 + 0.24, 1e-12);
  EXPECT_NEAR(kTiming.Iteration(true, 4, 10, 0), 0.2 + 1.0, 1e-12);
  EXPECT_NEAR(kTiming.Iteration(true, 4, 10, 3), 3 * 0.2 + 0.2 + 1.0, 1e-12);
  EXPECT_NEAR(kTiming.Iteration(false, 1, 10, 0), 0.2, 1e-7) << "one GPU waits for nobody";
  StepTiming overlapping = kTiming;
  overlapping.gamma = 2;
  EXPECT_NEAR(overlapping.Iteration(true, 2, 50, 0), std::hypot(0.6, 0.8), 1e-8);
}

TEST(GoodputModelTest, ALargerBatchIsWorthWhatItsNoiseSays) {
  const auto gain = [](double noise_scale, double scale) {
    return GradientStatistics::OfNoiseScale(noise_scale, 32).Gain(scale);
  };
  EXPECT_DOUBLE_EQ(gain(0, 4), 1) << "without noise a larger batch gives nothing";
  EXPECT_NEAR(gain(1e12, 4), 4, 1e-6) << "all noise: four times the samples, four times the work";
  EXPECT_DOUBLE_EQ(gain(96, 4), 4 * (96 + 32.0) / (96 + 128.0));
  EXPECT_EQ((GradientStatistics{-2, 1}.Gain(4)), 1) << "statistics that cannot be";
}

TEST(GoodputModelTest, StatisticsAreLinearBetweenBatchSizes) {
  const std::vector<StatisticsPoint> points = {{32, {1, 10}}, {64, {3, 20}}};
  EXPECT_EQ(StatisticsAt(points, 48).square, 2);
  EXPECT_EQ(StatisticsAt(points, 48).variance, 15);
  EXPECT_EQ(StatisticsAt(points, 8).variance, 10);
  EXPECT_EQ(StatisticsAt(points, 500).variance, 20);
}

TEST(GoodputModelTest, ABatchIsSplitIntoPassesThatFit) {
  BatchChoice choice = SplitBatch(kLimits, 2, 256);  // 128 a GPU, 64 at a time
  EXPECT_EQ(choice.local_batch, 64);
  EXPECT_EQ(choice.accumulation, 1);
  choice = SplitBatch(kLimits, 1, 40);  // the noise of one GPU needs two passes
  EXPECT_EQ(choice.local_batch, 20);
  EXPECT_EQ(choice.accumulation, 1);
  choice = SplitBatch(kLimits, 3, 100);
  EXPECT_EQ(choice.local_batch, 34);
  EXPECT_EQ(choice.total(3), 102);
}

TEST(GoodputModelTest, TheBatchGrowsWithNoiseAndWithGpus) {
  const auto total = [](double noise, bool several, GpuCount gpus) {
    return ChooseBatch(kTiming, kLimits, Noise(noise), several, gpus).total(gpus);
  };
  EXPECT_EQ(total(1e-9, false, 4), 32);
  EXPECT_EQ(total(1e9, false, 4), 256);
  EXPECT_LT(total(200, false, 2), total(2000, false, 2));
  EXPECT_LE(total(200, false, 2), total(200, false, 4));
  // Its rate is the best of all that can be had, which is its own arithmetic.
  const BatchChoice best = ChooseBatch(kTiming, kLimits, Noise(500), true, 4);
  for (int local = 8; local <= 64; ++local) {
    const double rate = GradientStatistics::OfNoiseScale(500, 32).Gain(local * 4 / 32.0) /
                        kTiming.Iteration(true, 4, local, 0);
    EXPECT_LE(rate, best.rate * 1.001) << local;
  }
}

TEST(GoodputModelTest, AFixedBatchKeepsItsSizeAsNearlyAsWholeSamplesAllow) {
  const BatchChoice choice = FixedBatch(kTiming, kLimits, Noise(500), false, 3, 100);
  EXPECT_EQ(choice.local_batch, 34);
  EXPECT_EQ(choice.accumulation, 0);
  // Never above the limit: 86 samples on each of 3 GPUs in two passes would be 258.
  EXPECT_EQ(FixedBatch(kTiming, kLimits, Noise(500), false, 3, 256).local_batch, 42);
}

constexpr char kHeader[] =
    "profile,kind,gpu_type,alpha_c,beta_c,alpha_n,beta_n,alpha_r,beta_r,gamma,initial_batch,"
    "max_batch,min_local_batch,max_local_batch,fixed_batch,until,noise_scale,grad_sqr,grad_var\n";
constexpr char kV100[] = "m,goodput,v100,0.1,0.01,0.8,0.1,0.2,0.02,1,32,256,8,64,,,,,\n";

ModelPtr ModelOf(const std::string& rows) {
  return Catalogue::FromCsv(kHeader + rows, "c.csv").Get("m");
}

double RateOn(const ThroughputModel& model, std::vector<UnitCounts> nodes, TrainingState state) {
  return model.Rate(RunShape{"v100", nodes, {}}, state);
}

TEST(GoodputModelTest, ACatalogueSaysHowNoiseChanges) {
  const ModelPtr model = ModelOf(std::string(kV100) + "m,goodput,,,,,,,,,,,,,,1000,100,,\n" +
                                 "m,goodput,,,,,,,,,,,,,,,,2,125\n");
  EXPECT_TRUE(model->varies());
  EXPECT_EQ(model->ConstantUntil(0), 1000);
  EXPECT_EQ(model->ConstantUntil(999), 1000);
  EXPECT_EQ(model->ConstantUntil(1000), std::numeric_limits<double>::infinity());
  const auto expected = [](double noise, bool several, GpuCount gpus) {
    return ChooseBatch(kTiming, kLimits, Noise(noise), several, gpus).rate;
  };
  EXPECT_EQ(RateOn(*model, {4}, {}), expected(100, false, 4));
  EXPECT_EQ(RateOn(*model, {1, 3}, {}), expected(100, true, 4));
  EXPECT_NEAR(RateOn(*model, {4}, {.done_work = 1000}), expected(32 * 62.5, false, 4), 1e-12);
  EXPECT_EQ(RateOn(*model, {4}, {.done_work = 5, .noise_scale = 700}), expected(700, false, 4))
      << "what was measured counts";
  EXPECT_EQ(model->Rate(4, "a100"), 0);
  EXPECT_EQ(model->SpansOn("v100"), (std::vector<Span>{{1, 1}, {2, Span::kAny}}));
}

TEST(GoodputModelTest, OneRowOfGradientsDoesNotVary) {
  EXPECT_FALSE(ModelOf(std::string(kV100) + "m,goodput,,,,,,,,,,,,,,,100,,\n")->varies());
}

TEST(GoodputModelTest, MalformedRowsNameTheRule) {
  const auto read = [](const std::string& rows) { return [=] { ModelOf(rows); }; };
  const std::string v100 = kV100;
  ExpectError(ExitCode::kBadData, {"row of gradients", "1 and 0", "c.csv:2"}, read(v100));
  ExpectError(ExitCode::kBadData, {"come before", "c.csv:2"},
              read("m,goodput,,,,,,,,,,,,,,,100,,\n" + v100));
  ExpectError(ExitCode::kBadData, {"'until' must not fall", "10", "20", "c.csv:4"},
              read(v100 + "m,goodput,,,,,,,,,,,,,,20,100,,\nm,goodput,,,,,,,,,,,,,,10,100,,\n"));
  ExpectError(ExitCode::kBadData, {"noise_scale", "grad_sqr", "c.csv:3"},
              read(v100 + "m,goodput,,,,,,,,,,,,,,20,,5,\n"));
  ExpectError(ExitCode::kBadData, {"'noise_scale' must be a number > 0", "nan", "c.csv:3"},
              read(v100 + "m,goodput,,,,,,,,,,,,,,20,nan,,\n"));
  ExpectError(ExitCode::kBadData, {"'grad_var' must be a finite number", "nan", "c.csv:3"},
              read(v100 + "m,goodput,,,,,,,,,,,,,,20,,5,nan\n"));
  ExpectError(ExitCode::kBadData, {"one row", "v100", "c.csv:3"}, read(v100 + v100));
  ExpectError(ExitCode::kBadData, {"must have room", "256", "300", "c.csv:2"},
              read("m,goodput,v100,0.1,0.01,0.8,0.1,0.2,0.02,1,300,256,8,64,,,,,\n"));
  ExpectError(ExitCode::kBadData, {"'fixed_batch'", "'max_batch'", "256", "257", "c.csv:2"},
              read("m,goodput,v100,0.1,0.01,0.8,0.1,0.2,0.02,1,32,256,8,64,257,,,,\n"));
}

}  // namespace
}  // namespace allot
