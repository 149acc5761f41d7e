#include "wait_forecast/forecast_calibration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/file.h"
#include "core/rng.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/sim/small_world.h"
#include "wait_forecast/forecast_check.h"

namespace allot {
namespace {

// Predicted to be within 20 % of two hours, and comes within a factor of 4.
std::vector<PredictedTime> TooSure(std::uint64_t seed) {
  Rng rng(seed, "calibration-test");
  std::vector<PredictedTime> times;
  for (int i = 0; i < 3000; ++i) {
    const Seconds median = 7200 * std::exp(rng.Uniform(-0.5, 0.5));
    times.push_back({static_cast<Predicted>(i % 3),
                     i,
                     0,
                     {0.8 * median, median, 1.2 * median},
                     median * std::exp(rng.Uniform(-1.4, 1.4))});
  }
  return times;
}

double CoverageOf(const std::vector<PredictedTime>& times) {
  double inside = 0;
  for (const PredictedTime& time : times) {
    inside += time.ahead[0] <= time.observed && time.observed <= time.ahead[2] ? 1 : 0;
  }
  return inside / static_cast<double>(times.size());
}

std::filesystem::path TempFile(const char* name) {
  return std::filesystem::path(::testing::TempDir()) / name;
}

TEST(ForecastCalibration, CoversAsOftenAsItSaysOnOtherTimes) {
  const auto calibration = ForecastCalibration::Fit(TooSure(1));
  std::vector<PredictedTime> held_out = TooSure(2);
  EXPECT_LT(CoverageOf(held_out), 0.3);
  for (PredictedTime& time : held_out) time.ahead = calibration.Shift(time.what, time.ahead);
  EXPECT_NEAR(CoverageOf(held_out), 0.8, 0.04);
  for (const ForecastScore& score : ScoresOf(held_out, 86400)) {
    if (score.times < 100) continue;
    EXPECT_NEAR(score.covered, 0.8, 0.08) << score.what << ", " << score.lead;
    EXPECT_NEAR(score.below + score.above + score.covered, 1, 1e-9);
  }
}

TEST(ForecastCalibration, AFileGivesTheSameAndKeepsOrder) {
  const auto path = TempFile("calibration.json");
  const auto calibration = ForecastCalibration::Fit(TooSure(1));
  WriteTextFile(path, calibration.ToJson().dump() + "\n");
  const auto read = ForecastCalibration::FromFile(path.string());
  for (const Seconds median : {0.0, 100.0, 5000.0, 50000.0, 500000.0}) {
    const TimeQuantiles ahead = {0.5 * median, median, kNever};
    const TimeQuantiles moved = read.Shift(Predicted::kStart, ahead);
    EXPECT_EQ(moved, calibration.Shift(Predicted::kStart, ahead));
    EXPECT_TRUE(std::is_sorted(moved.begin(), moved.end()));
    EXPECT_EQ(moved[2], kNever);
    EXPECT_GE(moved[0], 0);
  }
}

TEST(ForecastCalibration, WithoutShiftsNothingMoves) {
  const TimeQuantiles ahead = {10, 20, 30};
  EXPECT_EQ(ForecastCalibration().Shift(Predicted::kEndOfRunning, ahead), ahead);
}

TEST(ForecastCalibration, ABadFileIsNamed) {
  const auto message = [](const std::string& text) -> std::string {
    const auto path = TempFile("bad.json");
    WriteTextFile(path, text);
    return ErrorOf(ExitCode::kBadData, [&] { ForecastCalibration::FromFile(path.string()); });
  };
  EXPECT_NE(message("{").find("bad.json' is not what 'allot forecast --fit' writes"),
            std::string::npos);
  EXPECT_NE(message(R"({"version": 7})").find("must be of version 1, got 7"), std::string::npos);
  EXPECT_NE(message(R"({"version": 1, "classes": []})").find("must have 12 classes, got 0"),
            std::string::npos);
}

// Jobs that come and last as those of the history: predictions cover as often as they claim.
TEST(ForecastCheck, IntervalsCoverInAWorldLikeItsHistory) {
  const auto jobs = [](std::uint64_t seed) {
    Rng rng(seed, "outlook-check");
    std::vector<testing_support::SmallJob> made;
    Seconds submit = 0;
    for (int i = 0; i < 1500; ++i) {
      submit += rng.Exponential(600);
      made.push_back({submit, static_cast<GpuCount>(1 + rng.Below(4)), 60 + rng.Exponential(2900)});
    }
    return made;
  };
  SimOptions rules;
  rules.interval = 60;
  rules.lengths = LengthEstimates::Parse("none");
  const Scenario scenario = testing_support::ScenarioOf(jobs(1), "1x14", rules);
  const auto past =
      std::make_shared<const Scenario>(testing_support::ScenarioOf(jobs(2), "1x14", rules));
  LengthModel lengths;
  lengths.Learn(past->workload(), kNever);
  const WaitForecaster forecaster(rules, {.samples = 20, .horizon = 86400.0, .settle = 7200},
                                  std::make_shared<const PastArrivals>(past, kNever, 43200.0));
  const auto policy = testing_support::Fifo();
  const auto future = testing_support::Fifo();
  ForecastCheck check(forecaster, scenario, lengths, *future,
                      {.from = 20000, .until = 800000, .every = 10800});
  DecisionListener* const listeners[] = {&check};
  const RunOutcome outcome = RunPolicy(scenario, *policy, listeners);
  for (const ForecastScore& score : ScoresOf(check.Times(outcome.records), 86400)) {
    if (score.lead != "all") continue;
    EXPECT_GT(score.times, 80) << score.what;
    EXPECT_NEAR(score.covered, 0.8, 0.1) << score.what;
  }
}

}  // namespace
}  // namespace allot
