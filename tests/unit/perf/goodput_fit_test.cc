#include "perf/goodput_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/file.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

using Observations = std::vector<TimingObservation>;

struct Recorded {
  int id = 0;
  Observations observations;
  StepTiming timing;
  double loss = 0;
};

// What Pollux's own fit found (tests/reference/README.md).
std::vector<Recorded> RecordedFits() {
  const std::string text = ReadTextFile(ALLOT_SOURCE_DIR "/tests/reference/pollux/unit/fits.json");
  std::vector<Recorded> fits;
  for (const auto& fit : nlohmann::json::parse(text)) {
    Recorded recorded;
    recorded.id = fit["id"];
    recorded.loss = fit["objective"];
    const auto& p = fit["params"];
    recorded.timing = {p[0], p[1], p[2], p[3], p[4], p[5], p[6]};
    for (const auto& o : fit["observations"]) {
      recorded.observations.push_back({o[0].get<int>() > 1, o[1], o[2], o[3], o[4]});
    }
    fits.push_back(std::move(recorded));
  }
  return fits;
}

TEST(GoodputFitTest, TheLossOfPolluxFitsIsTheirs) {
  const auto fits = RecordedFits();
  ASSERT_EQ(fits.size(), 42U);
  for (const Recorded& theirs : fits) {
    EXPECT_NEAR(TimingLoss(theirs.observations, theirs.timing), theirs.loss, 1e-6)
        << "fit " << theirs.id;
  }
}

TEST(GoodputFitTest, ColdFitsAreNoWorseThanPolluxFits) {
  for (const Recorded& theirs : RecordedFits()) {
    const TimingFit ours = FitTiming(theirs.observations);
    EXPECT_LE(ours.loss, theirs.loss + 1e-4) << "fit " << theirs.id;
    EXPECT_NEAR(ours.loss, TimingLoss(theirs.observations, ours.timing), 1e-12)
        << "the loss is of the answer";
  }
}

TEST(GoodputFitTest, WarmFitsDoNotLeaveAGoodStart) {
  for (const Recorded& theirs : RecordedFits()) {
    const TimingFit ours = FitTiming(theirs.observations, &theirs.timing);
    EXPECT_LE(ours.loss, theirs.loss + 1e-4) << "fit " << theirs.id;
  }
}

constexpr StepTiming kTruth{0.1, 0.01, 0.8, 0.05, 0.2, 0.02, 2};

TimingObservation Seen(bool several_nodes, GpuCount gpus, double batch) {
  return {several_nodes, gpus, batch, kTruth.Gradient(batch),
          kTruth.Iteration(several_nodes, gpus, batch, 0)};
}

TEST(GoodputFitTest, TimesMadeOfSevenParametersAreFoundAgain) {
  Observations observations;
  for (const double batch : {8, 16, 64}) {
    for (const GpuCount gpus : {1, 2, 4}) observations.push_back(Seen(false, gpus, batch));
    for (const GpuCount gpus : {2, 6, 12, 16}) observations.push_back(Seen(true, gpus, batch));
  }
  const StepTiming fitted = FitTiming(observations).timing;
  for (const TimingObservation& o : {Seen(false, 3, 32), Seen(true, 8, 32), Seen(true, 24, 16)}) {
    EXPECT_NEAR(fitted.Gradient(o.local_batch) / o.gradient, 1, 0.01);
    EXPECT_NEAR(fitted.Iteration(o.several_nodes, o.gpus, o.local_batch, 0) / o.iteration, 1, 0.02)
        << o.gpus << " GPUs";
  }
}

TEST(GoodputFitTest, OneBatchSizeIsHalfConstant) {
  const Observations observations = {Seen(false, 1, 32), Seen(false, 2, 32)};
  EXPECT_NEAR(FitTiming(observations).timing.alpha_c, kTruth.Gradient(32) / 2, 1e-12);
}

TEST(GoodputFitTest, WhatNeverRanIsTakenToScalePerfectly) {
  const StepTiming alone = FitTiming(Observations{Seen(false, 1, 32)}).timing;
  EXPECT_LT(alone.Synchronisation(false, 4), 1e-6);
  EXPECT_LT(alone.Synchronisation(true, 64), 1e-5);
  const Observations few = {Seen(false, 1, 32), Seen(false, 2, 32), Seen(true, 2, 32)};
  EXPECT_LE(FitTiming(few).timing.beta_r, 1.01e-8) << "never on more than two GPUs";
  EXPECT_LE(FitTiming(few).timing.beta_n, 1.01e-8);
}

TEST(GoodputFitTest, SeveralNodesAreSlowerThanOneThatWasSeen) {
  const Observations observations = {Seen(false, 1, 32), Seen(false, 2, 32), Seen(false, 4, 16)};
  const StepTiming fitted = FitTiming(observations).timing;
  EXPECT_DOUBLE_EQ(fitted.alpha_n, 1.1 * fitted.alpha_r);
  EXPECT_DOUBLE_EQ(fitted.beta_n, 1.1 * fitted.beta_r);
}

TEST(GoodputFitTest, BoundsHold) {
  for (const Recorded& theirs : RecordedFits()) {
    const StepTiming t = FitTiming(theirs.observations).timing;
    for (const double time : {t.alpha_c, t.beta_c, t.alpha_n, t.beta_n, t.alpha_r, t.beta_r}) {
      EXPECT_GE(time, 0.999e-8) << "fit " << theirs.id;
    }
    EXPECT_GE(t.gamma, 1) << "fit " << theirs.id;
    EXPECT_LE(t.gamma, 10) << "fit " << theirs.id;
  }
}

TEST(GoodputFitTest, ObservationsThatCannotBeAreRefused) {
  ExpectError(ExitCode::kBadData, {"at least one observation, got 0"},
              [] { (void)FitTiming(Observations{}); });
  TimingObservation bad = Seen(false, 2, 32);
  bad.gradient = std::nan("");
  ExpectError(ExitCode::kBadData, {"finite and above 0"},
              [&] { (void)FitTiming(Observations{bad}); });
  bad = Seen(false, 2, 32);
  bad.iteration = 0;
  ExpectError(ExitCode::kBadData, {"iteration 0 s"}, [&] { (void)FitTiming(Observations{bad}); });
  bad = Seen(false, 2, 32);
  bad.gpus = 0;
  ExpectError(ExitCode::kBadData, {"at least one GPU"},
              [&] { (void)FitTiming(Observations{bad}); });
}

}  // namespace
}  // namespace allot
