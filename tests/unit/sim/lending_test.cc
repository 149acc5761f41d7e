#include "sim/lending.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/file.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

using testing_support::Jcts;
using testing_support::ScenarioOf;
using testing_support::Staged;
using Times = std::vector<Seconds>;

constexpr Seconds kOneWeek = 7 * 86400.0;

// Services that need 2 of 4 GPUs, from 900 s on 3, and from 1,800 s on none.
class LendingTest : public testing::Test {
 protected:
  LendingTest() { WriteTextFile(path_, "time_s,gpus\n0,2\n1500,3\n2400,0\n9000,0\n"); }

  SimOptions Options(Seconds notice, const std::string& lend = "margin:margin=0") const {
    SimOptions options;
    options.services = "trace:file=" + path_ + ",begin=600";
    options.lend = lend;
    options.recall_notice = notice;
    return options;
  }

  const testing_support::TempFolder folder_;
  const std::string path_ = (folder_ / "load.csv").string();
};

TEST_F(LendingTest, WhatIsLentFollowsTheDemandAfterTheNotice) {
  const Scenario scenario = ScenarioOf({{0, 1, 100}, {3000, 1, 100}}, "4x1", Options(300));
  std::vector<std::pair<Seconds, std::int32_t>> changes;
  for (const Lending::Change& change : scenario.lending()->changes()) {
    changes.emplace_back(change.time, change.nodes);
  }
  EXPECT_EQ(changes.front(), std::pair(0.0, 2));
  EXPECT_EQ(changes[1], std::pair(1200.0, 1)) << "300 s after the demand of 900 s";
  EXPECT_EQ(changes[2], std::pair(2100.0, 4));
  const LendingFigures figures = *scenario.lending_figures();
  // 11 steps up to 3,000 s: 3 of 2 GPUs, 3 of 3, 5 of none; one GPU is missing in one of them.
  EXPECT_NEAR(figures.demand, 15.0 / 11, 1e-12);
  EXPECT_NEAR(figures.lent, (4 * 2 + 3 * 1 + 4 * 4) / 11.0, 1e-12);
  EXPECT_NEAR(figures.shortage, 1.0 / 15, 1e-12);
}

TEST_F(LendingTest, JobsOfARecalledNodeWriteACheckpointAndWait) {
  // Two nodes until 1,200 s, then one: the job on the last node stops with 1,200 s done and goes on
  // when the other one has ended.
  SimOptions options = Options(300);
  options.checkpoints = "fixed:every=700,cost=0";
  const RunOutcome saved = RunPolicy(ScenarioOf({{0, 1, 1500}, {0, 1, 1500}}, "4x1", options),
                                     *Staged({.ordering = "submit"}));
  EXPECT_EQ(Jcts(saved), (Times{1500, 1500 + 30 + 300}));
  EXPECT_EQ(saved.records[1].evictions, 1);
  EXPECT_EQ(saved.records[1].failures, 0);
  EXPECT_EQ(saved.records[1].preemptions, 1);
}

TEST_F(LendingTest, WithoutEnoughNoticeTheyLoseWorkSinceTheLastCheckpoint) {
  SimOptions options = Options(300);
  options.checkpoints = "fixed:every=700,cost=400";
  const RunOutcome lost = RunPolicy(ScenarioOf({{0, 1, 1400}, {0, 1, 1400}}, "4x1", options),
                                    *Staged({.ordering = "submit"}));
  ASSERT_TRUE(lost.lost.has_value());
  EXPECT_EQ(lost.records[1].evictions, 1);
  EXPECT_GT(lost.lost->redone, 0);
}

TEST_F(LendingTest, AnElasticJobGoesOnOnWhatIsLeft) {
  SimOptions options = Options(300);
  options.node_loss = NodeLoss::kShrink;
  options.interval = 900;  // so that no decision falls between recall and end
  const RunOutcome outcome =
      RunPolicy(ScenarioOf({{0, 2, 1500, 1, 2}}, "4x1", options), *Staged({.ordering = "submit"}));
  EXPECT_EQ(outcome.records[0].evictions, 0);
  EXPECT_EQ(outcome.records[0].shrinks, 1);
  EXPECT_EQ(Jcts(outcome), (Times{1530})) << "as fast on one GPU, after a restart";
}

TEST_F(LendingTest, PoliciesSeeWhatIsLentAndGuaranteed) {
  const Scenario scenario = ScenarioOf({{0, 1, 100}, {3000, 1, 100}}, "4x1", Options(600));
  const SimulatedCluster cluster(scenario);
  const Observation& o = cluster.Observe();
  EXPECT_EQ(o.lent, 2);
  ASSERT_EQ(o.guaranteed.size(), 97U) << "a day by quarters of an hour";
  EXPECT_EQ(o.guaranteed[0], 2);
  EXPECT_EQ(o.guaranteed[96], 2) << "a margin over the present demand";
}

TEST_F(LendingTest, ADownNodeIsGivenBackFirst) {
  SimOptions options = Options(0);
  options.node_events = {{300, 0, false}, {6000, 0, true}};
  const RunOutcome outcome =
      RunPolicy(ScenarioOf({{0, 1, 2000}}, "4x1", options), *Staged({.ordering = "submit"}));
  EXPECT_EQ(outcome.records[0].evictions, 0);
}

TEST_F(LendingTest, BadInputNamesTheRuleAndTheValue) {
  const auto run = [&](const SimOptions& options, const std::string& cluster = "4x1") {
    ScenarioOf({{0, 1, 100}}, cluster, options);
  };
  ExpectError(ExitCode::kUsage, {"unknown lender 'margins'", "margin"},
              [&] { run(Options(300, "margins")); });
  ExpectError(ExitCode::kUsage, {"two weeks", "0.0 days"}, [&] { run(Options(300, "level")); });
  ExpectError(ExitCode::kUsage, {"notice", "600 s", "700"}, [&] { run(Options(700)); });
  ExpectError(ExitCode::kUsage, {"notice", "-1"}, [&] { run(Options(-1)); });
  ExpectError(ExitCode::kUsage, {"nodes that are alike", "2x1,2x2"},
              [&] { run(Options(300), "2x1,2x2"); });
  SimOptions scaled = Options(300);
  scaled.autoscale = "min=1";
  ExpectError(ExitCode::kUsage, {"autoscaling", "trace:"}, [&] { run(scaled); });
  ExpectError(ExitCode::kUsage, {"'margin'", "-0.5"},
              [&] { run(Options(300, "margin:margin=-0.5")); });
  for (const char* quantile : {"0", "1"}) {
    SimOptions options = Options(300, std::string("level:quantile=") + quantile);
    options.services = "weekly";
    ExpectError(ExitCode::kUsage, {"'quantile'", "between 0 and 1", quantile},
                [&] { run(options); });
  }
}

// The share of steps in which the demand is at most the quantile that was predicted.
double Held(const std::string& lender, Seconds ahead) {
  double held = 0;
  double steps = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const ServiceLoad load =
        MakeServiceLoad("weekly", {.gpus = 512, .horizon = 2 * kOneWeek, .seed = seed});
    const auto predicts = MakeLender(lender, load);
    for (Seconds now = 0; now + ahead < 2 * kOneWeek; now += ServiceLoad::kStep) {
      held += load.At(now + ahead) <= std::ceil(predicts->NeedToLend(now, ahead)) ? 1 : 0;
      ++steps;
    }
  }
  return held / steps;
}

TEST(Lenders, QuantilesHoldInTheWeeksAfterThoseLearned) {
  for (const Seconds ahead : {600.0, 3600.0, 4 * 3600.0}) {
    EXPECT_NEAR(Held("level:quantile=0.99", ahead), 0.99, 0.008) << ahead;
    EXPECT_NEAR(Held("level:quantile=0.9", ahead), 0.92, 0.03) << ahead << ": GPUs are whole";
  }
  EXPECT_NEAR(Held("season:quantile=0.95", 600), 0.95, 0.04);
}

TEST(Lenders, ThePresentDeviationNarrowsAPrediction) {
  const ServiceLoad load =
      MakeServiceLoad("weekly", {.gpus = 512, .horizon = 2 * kOneWeek, .seed = 1});
  const auto needed = [&](const char* lender) {
    const auto predicts = MakeLender(lender, load);
    double sum = 0;
    for (Seconds now = 0; now < kOneWeek; now += 3600) sum += predicts->NeedToLend(now, 600);
    return sum;
  };
  EXPECT_LT(needed("level"), 0.95 * needed("season"));
}

}  // namespace
}  // namespace allot
