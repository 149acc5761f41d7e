// Running a sweep: threads, shards and interruptions leave no trace in its results.

#include "sweep/run_sweep.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.h"
#include "core/file.h"
#include "core/rng.h"
#include "sweep/definition_file.h"
#include "sweep/limits.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

namespace fs = std::filesystem;

SweepDefinition Twelve(const std::string& more = "") {
  return SweepFromJson(
      ParseToml("loads = [1, 2]\nseeds = [0, 1, 2]\npolicies = [\"a\", \"b\"]\n" + more, "test"),
      {"interval"}, "test");
}

// A cell whose figures follow from its values, as those of a simulation do.
SweepCell FakeCell(const CellValues& values) {
  std::string text;
  for (const std::string& value : values) text += value + "/";
  SweepCell cell;
  cell.workload = "w";
  cell.summary.jobs = 10;
  cell.summary.avg_jct_s = static_cast<double>(StableHash(text) % 1000);
  cell.summary.cpu_s = 0.5;
  return cell;
}

std::string CsvOf(const SweepDefinition& definition, std::vector<SweepCell> cells) {
  SweepResults results;
  results.factors = FactorNames(definition);
  results.reference = definition.reference;
  results.cells = std::move(cells);
  return SweepCellsCsv(results);
}

std::string Reference(const SweepDefinition& definition) {
  return CsvOf(definition, RunSweep(definition, FakeCell, {.threads = 1, .quiet = true}).cells);
}

class SweepFolderTest : public testing::Test {
 protected:
  // Runs a shard as a process of its own would.
  SweepOutcome Run(const SweepDefinition& definition, const RunCell& run, const Shard& shard = {}) {
    SweepFolder folder(path_, definition, {}, "test");
    return RunSweep(definition, run,
                    {.threads = 2, .quiet = true, .shard = shard, .folder = &folder});
  }

  testing_support::TempFolder temp_;
  fs::path path_ = temp_ / "sweep";
};

TEST(RunSweep, GivesTheSameOnAnyNumberOfThreads) {
  const SweepDefinition definition = Twelve();
  for (const int threads : {2, 5, 16}) {
    EXPECT_EQ(CsvOf(definition,
                    RunSweep(definition, FakeCell, {.threads = threads, .quiet = true}).cells),
              Reference(definition))
        << threads << " threads";
  }
}

TEST(RunSweep, NamesTheCellOfAnError) {
  const SweepDefinition definition = Twelve();
  EXPECT_EQ(ErrorOf(ExitCode::kRunFailed,
                    [&] {
                      RunSweep(definition,
                               [](const CellValues&) -> SweepCell { throw RunError("no room"); },
                               {.threads = 1, .quiet = true});
                    }),
            "load 1, seed 0, policy a: no room");
}

TEST(RunSweep, ACellThatFailsCostsOnlyItself) {
  const SweepDefinition definition = Twelve();
  const SweepOutcome outcome = RunSweep(definition,
                                        [](const CellValues& values) {
                                          if (values.front() == "2" && values.back() == "b")
                                            throw RunError("never ends");
                                          return FakeCell(values);
                                        },
                                        {.threads = 2, .quiet = true});
  EXPECT_EQ(outcome.cells.size(), 12U);
  EXPECT_EQ(outcome.failed, 3U);
  EXPECT_EQ(outcome.cells.back().failed, "never ends");
  EXPECT_TRUE(std::isnan(outcome.cells.back().summary.avg_jct_s));
  EXPECT_EQ(SweepNotes(definition, outcome.cells).back(),
            "no figures of load 2, seed 2, policy b: never ends");
}

TEST_F(SweepFolderTest, KeepsFinishedCellsOfASweepThatFailed) {
  const SweepDefinition definition = Twelve();
  std::atomic<int> left{5};
  const RunCell failing = [&left](const CellValues& values) {
    if (left-- <= 0) throw DataError("the trace is gone");
    return FakeCell(values);
  };
  EXPECT_THROW(Run(definition, failing), Error);
  std::atomic<int> run{0};
  const SweepOutcome outcome = Run(definition, [&run](const CellValues& values) {
    ++run;
    return FakeCell(values);
  });
  EXPECT_EQ(outcome.taken_up, 5U);
  EXPECT_EQ(run, 7) << "finished cells were run again";
  EXPECT_EQ(CsvOf(definition, outcome.cells), Reference(definition));
}

TEST_F(SweepFolderTest, RunsACellAgainOfWhichOnlyHalfALineWasWritten) {
  const SweepDefinition definition = Twelve();
  Run(definition, FakeCell);
  const fs::path file = path_ / "done" / "1-of-1.jsonl";
  fs::resize_file(file, fs::file_size(file) - 9);
  const SweepOutcome outcome = Run(definition, FakeCell);
  EXPECT_EQ(outcome.taken_up, 11U);
  EXPECT_EQ(CsvOf(definition, outcome.cells), Reference(definition));
  EXPECT_EQ(Run(definition, FakeCell).taken_up, 12U) << "the half line was left in the file";
}

TEST_F(SweepFolderTest, MergesShardsIntoTheSameResults) {
  const SweepDefinition definition = Twelve();
  EXPECT_EQ(Run(definition, FakeCell, {1, 3}).missing, 8U);
  EXPECT_EQ(Run(definition, FakeCell, {3, 3}).missing, 4U);
  const SweepOutcome last = Run(definition, FakeCell, {2, 3});
  EXPECT_EQ(last.missing, 0U);
  EXPECT_EQ(CsvOf(definition, last.cells), Reference(definition));
}

TEST_F(SweepFolderTest, RefusesASecondWriterOfAShard) {
  const SweepDefinition definition = Twelve();
  SweepFolder first(path_, definition, {}, "test");
  first.OpenShard({1, 2});
  SweepFolder second(path_, definition, {}, "test");
  EXPECT_NO_THROW(second.OpenShard({2, 2}));
  SweepFolder third(path_, definition, {}, "test");
  EXPECT_THROW(third.OpenShard({1, 2}), Error);
}

TEST_F(SweepFolderTest, RefusesAnotherDefinitionNamingBothValues) {
  static_cast<void>(SweepFolder(path_, Twelve("interval = 60"), {}, "test"));
  ExpectError(ExitCode::kUsage, {"interval = \"60\", now interval = \"300\""},
              [&] { static_cast<void>(SweepFolder(path_, Twelve("interval = 300"), {}, "test")); });
}

TEST_F(SweepFolderTest, RefusesAChangedInputFile) {
  static_cast<void>(SweepFolder(path_, Twelve(), {{"jobs.csv", "aa"}}, "test"));
  ExpectError(ExitCode::kBadData, {"'jobs.csv'"}, [&] {
    static_cast<void>(SweepFolder(path_, Twelve(), {{"jobs.csv", "bb"}}, "test"));
  });
}

TEST_F(SweepFolderTest, TakesAnotherTitleAndReference) {
  static_cast<void>(SweepFolder(path_, Twelve(), {}, "test"));
  EXPECT_NO_THROW(SweepFolder(path_, Twelve("title = \"x\"\nreference = \"b\""), {}, "other"));
}

TEST(Shard, HoldsEachCellOnce) {
  for (std::size_t cell = 0; cell < 10; ++cell) {
    int holders = 0;
    for (int i = 1; i <= 3; ++i) holders += Shard{i, 3}.holds(cell);
    EXPECT_EQ(holders, 1) << "cell " << cell;
  }
}

TEST(Shard, MustLieInItsCount) {
  EXPECT_EQ(Shard::Parse("2/8").index, 2);
  for (const char* text : {"0/3", "4/3", "1", "a/b", "1/", ""}) {
    EXPECT_THROW(Shard::Parse(text), Error) << text;
  }
}

}  // namespace
}  // namespace allot
