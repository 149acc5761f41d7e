#include "perf/application.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/file.h"
#include "core/strings.h"
#include "perf/application_files.h"
#include "perf/application_model.h"
#include "perf/pollux_applications.h"
#include "table/csv.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

const Application& Pollux(std::string_view name) {
  return *AsApplication(*PolluxCatalogue().Get(name))->application();
}

std::vector<UnitCounts> Nodes(std::string_view text) {
  std::vector<UnitCounts> nodes;
  for (const std::string_view part : Split(text, ' ')) {
    nodes.emplace_back(static_cast<int>(*ParseInteger(part)));
  }
  return nodes;
}

// What the peer's own functions say (tests/reference/README.md).
std::string UnitFile(const char* name) {
  return ReadTextFile(std::string(ALLOT_SOURCE_DIR "/tests/reference/pollux/unit/") + name);
}

TEST(ApplicationTest, IterationTimesAreThoseOfThePeer) {
  const std::string text = UnitFile("true_times.csv");
  CsvReader csv(text, "true_times.csv",
                {"application", "placement", "local_bsz", "source", "step_time", "sync_time"});
  int known = 0;
  while (csv.Next()) {
    const ProfiledTimes& times = Pollux(csv.Text("application")).types().front().times;
    const StepTime time =
        times.TimeAt(Nodes(csv.Text("placement")),
                     static_cast<std::int32_t>(csv.Integer("local_bsz", 1, 1 << 30)));
    ASSERT_EQ(time.known(), csv.Text("source") != "outside") << csv.place();
    if (!time.known()) continue;
    ++known;
    EXPECT_NEAR(time.step, csv.Number("step_time"), 1e-9) << csv.place();
    EXPECT_NEAR(time.synchronisation, csv.Number("sync_time"), 1e-9) << csv.place();
  }
  EXPECT_EQ(known, 234);
}

TEST(ApplicationTest, FixedBatchesAreSplitAsAtThePeer) {
  const std::string text = UnitFile("fixed_batch_choice.csv");
  CsvReader csv(text, "fixed_batch_choice.csv",
                {"application", "placement", "target_batch_size", "atomic_bsz", "accum_steps",
                 "total_batch_size"});
  int rows = 0;
  while (csv.Next()) {
    ++rows;
    const BatchLimits& limits = Pollux(csv.Text("application")).types().front().limits;
    GpuCount gpus = 0;
    for (const UnitCounts& node : Nodes(csv.Text("placement"))) gpus += node.of(0);
    const BatchChoice choice = SplitFixedBatch(limits, gpus, csv.Number("target_batch_size"));
    EXPECT_EQ(static_cast<double>(choice.local_batch), csv.Number("atomic_bsz")) << csv.place();
    EXPECT_EQ(choice.accumulation, csv.Number("accum_steps")) << csv.place();
    EXPECT_EQ(choice.total(gpus), csv.Number("total_batch_size")) << csv.place();
  }
  EXPECT_EQ(rows, 150);
}

TEST(ApplicationTest, StatisticsOfTrainingAreThoseOfThePeer) {
  const std::string text = UnitFile("statistics.csv");
  CsvReader csv(text, "statistics.csv",
                {"application", "batch_size", "epoch", "grad_sqr", "grad_var", "gain", "efficiency",
                 "progress_at_end_of_epoch", "iterations_at_end_of_epoch"});
  int rows = 0;
  while (csv.Next()) {
    ++rows;
    const Application& application = Pollux(csv.Text("application"));
    const double batch = csv.Number("batch_size");
    const auto epoch = static_cast<std::int32_t>(csv.Integer("epoch", 0, 1000));
    const auto equal = [&](double ours, const char* column) {
      const double theirs = csv.Number(column);
      EXPECT_NEAR(ours, theirs, 1e-9 * std::abs(theirs)) << csv.place() << " " << column;
    };
    const GradientStatistics statistics = application.StatisticsIn(epoch, batch);
    equal(statistics.square, "grad_sqr");
    equal(statistics.variance, "grad_var");
    equal(application.GainIn(epoch, batch), "gain");
    equal(application.GainIn(epoch, batch) / (batch / application.initial_batch()), "efficiency");
    equal(application.ProgressUntil(epoch), "progress_at_end_of_epoch");
    equal(application.IterationsUntil(epoch, batch), "iterations_at_end_of_epoch");
  }
  EXPECT_EQ(rows, 150);
}

TEST(ApplicationTest, APlacementIsKnownUpToRotation) {
  const auto same = [](std::string_view a, std::string_view b) {
    return CanonicalPlacement(Nodes(a)) == CanonicalPlacement(Nodes(b));
  };
  EXPECT_TRUE(same("4 2 1", "1 4 2"));
  EXPECT_TRUE(same("4 0 2", "2 4"));
  EXPECT_FALSE(same("1 1 2 2", "1 2 1 2"));
  EXPECT_EQ(PlacementText(CanonicalPlacement(Nodes("12 4"))), "4 12");
}

TEST(ApplicationTest, AnEpochEndsWhereItsLeastProgressIs) {
  const Application& bert = Pollux("bert");
  EXPECT_EQ(bert.epochs(), 2);
  EXPECT_EQ(bert.EpochAt(0), 0);
  EXPECT_EQ(bert.EpochAt(7386.9), 0);
  EXPECT_EQ(bert.EpochAt(7387), 1);
  EXPECT_EQ(bert.EpochAt(bert.total_progress()), 2);
}

// Two GPUs take 0.6 s at 8 samples and 1 s at 16; an epoch is 100 iterations at 8.
std::string Own(const std::string& from = "", const std::string& to = "") {
  std::string pack =
      "@allot-applications\n"
      "@file parameters.csv\n"
      "application,init_batch_size,max_batch_size,min_local_bsz,max_local_bsz,max_epochs,"
      "total_progress,restart_seconds\n"
      "mine,8,64,4,16,2,200,12\n"
      "@file mine/placements.csv\n"
      "placement,local_bsz,step_time,sync_time\n"
      "1,8,0.5,0\n1,16,0.9,0\n"
      "2,8,0.6,0.1\n2,16,1.0,0.1\n"
      "11,8,0.8,0.3\n11,16,1.2,0.3\n"
      "@file mine/validation.csv\n"
      "batch_size,epoch,progress,iteration,grad_sqr,grad_var\n"
      "8,0,100,100,1,2\n8,1,200,200,1,4\n"
      "64,0,101,20,1,2\n64,1,201,40,1,4\n";
  if (!from.empty()) pack.replace(pack.find(from), from.size(), to);
  return pack;
}

TEST(ApplicationTest, OnesOwnApplicationIsThreeFiles) {
  const auto applications = ReadApplications(Own(), "apps");
  ASSERT_EQ(applications.size(), 1U);
  const Application& mine = *applications.front();
  const ProfiledTimes& times = mine.types().front().times;
  EXPECT_NEAR(times.TimeAt(Nodes("2"), 12).step, 0.8, 1e-12);
  EXPECT_FALSE(times.TimeAt(Nodes("2"), 17).known());
  EXPECT_NEAR(times.TimeAt(Nodes("4"), 8).step, 0.6, 1e-12)
      << "as the nearest shape: 2 on one node";
  EXPECT_NEAR(times.TimeAt(Nodes("3 1"), 8).step, 0.8, 1e-12) << "1 1 is nearer than 2";
  EXPECT_EQ(mine.types().front().restart, 12);
  EXPECT_EQ(mine.total_progress(), 200);
}

TEST(ApplicationTest, MistakesAreNamedWithFileLineAndRule) {
  struct Mistake {
    const char* from;
    const char* to;
    std::vector<std::string> says;
  };
  const Mistake mistakes[] = {
      {"2,8,0.6,0.1", "2,8,nan,0.1", {"step_time", "apps/mine/placements.csv:4"}},
      {"2,8,0.6,0.1", "2,8,0.6,0.7", {"'sync_time' must be from 0 to 'step_time'", ":4"}},
      {"2,8,0.6,0.1", "1,8,0.6,0.1", {"given once", ":4", ":2"}},
      {"2,8,0.6,0.1", "x,8,0.6,0.1", {"'placement'", "got x", ":4"}},
      {"8,1,200,200,1,4", "8,1,200,200,1,nan", {"grad_var", "apps/mine/validation.csv:3"}},
      {"8,1,200,200,1,4", "8,1,90,200,1,4", {"'progress' must rise", "100", "90"}},
      {"8,1,200,200,1,4", "8,1,200,90,1,4", {"'iteration' must rise", "100", "90", ".csv:3"}},
      {"8,1,200,200,1,4", "8,2,200,200,1,4", {"epochs of a batch count from 0", "2"}},
      {"16,2,200,12", "16,2,300,12", {"'total_progress'", "200", "300", "parameters.csv:2"}},
      {"16,2,200,12", "16,3,200,12", {"'max_epochs'", "(2)", "3"}},
      {"mine,8,64,4,16", "mine,8,64,4,2", {"must have room", "4", "2"}},
      {"mine,8,64", "other,8,64", {"other/placements.csv"}},
      {"64,1,201,40,1,4\n", "", {"as many epochs", "2", "1", "apps/mine/validation.csv:4"}},
  };
  for (const Mistake& mistake : mistakes) {
    SCOPED_TRACE(mistake.to);
    ExpectError(ExitCode::kBadData, mistake.says,
                [&] { ReadApplications(Own(mistake.from, mistake.to), "apps"); });
  }
}

TEST(ApplicationTest, TheModelTrainsWithTheBestMeasuredBatch) {
  const Catalogue catalogue = Catalogue::FromCsv(Own(), "apps");
  const auto& model = *AsApplication(*catalogue.Get("mine"));
  const std::vector<UnitCounts> two = Nodes("2");
  const BatchChoice best = model.Choose({"gpu", two, {}}, 0);
  EXPECT_GT(best.rate, 0);
  for (const double total : {8.0, 16.0, 32.0, 64.0}) {
    const BatchChoice fixed =
        SplitFixedBatch(model.application()->types().front().limits, 2, total);
    EXPECT_LE(model.RateWith({"gpu", two, {}}, 0, fixed), best.rate * 1.02) << total;
  }
  EXPECT_EQ(model.Rate({"gpu", two, {}}, {}), best.rate);
  EXPECT_EQ(model.ConstantUntil(0), 100);
  EXPECT_EQ(model.total_work(), 200);
}

}  // namespace
}  // namespace allot
