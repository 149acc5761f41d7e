// A sweep that rises until a limit: which cells it runs, in shards and in parts too.

#include "sweep/limits.h"

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "sweep/definition_file.h"
#include "sweep/run_sweep.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

SweepDefinition Rising(const std::string& more) {
  return SweepFromJson(
      ParseToml("rates = \"0.5..3/0.5\"\nseeds = [0, 1]\npolicies = [\"a\", \"b\"]\n" + more,
                "test"),
      {"interval"}, "test");
}

// GPU use is a quarter of the rate, in seed 1 a tenth more; policy b is as full at half the rate.
SweepCell FillingCell(const CellValues& values) {
  const double rate = std::stod(values[0]);
  SweepCell cell;
  cell.workload = "w";
  cell.arrivals_use = rate / (values[2] == "b" ? 2 : 4) + (values[1] == "1" ? 0.1 : 0);
  cell.summary.jobs = 10;
  cell.summary.avg_jct_s = 3600 * rate;
  return cell;
}

// Highest rate that was run, by policy.
std::map<std::string, std::string> Highest(const std::vector<SweepCell>& cells) {
  std::map<std::string, std::string> highest;
  for (const SweepCell& cell : cells) highest[cell.values[2]] = cell.values[0];
  return highest;
}

std::string LimitRefusal(const std::string& more) {
  return ErrorOf(ExitCode::kUsage, [&] { Rising(more); });
}

using Rates = std::map<std::string, std::string>;

TEST(SweepLimits, RangeOfStepsHoldsBothEnds) {
  EXPECT_EQ(Rising("").factors[0].values,
            (std::vector<std::string>{"0.5", "1", "1.5", "2", "2.5", "3"}));
}

TEST(SweepLimits, EachPolicyRisesToItsOwnLimit) {
  const auto outcome =
      RunSweep(Rising("until-utilisation = 0.5"), FillingCell, {.threads = 2, .quiet = true});
  EXPECT_EQ(Highest(outcome.cells), (Rates{{"a", "2"}, {"b", "1"}}));
  EXPECT_EQ(outcome.cells.size(), 2U * (4 + 2)) << "all seeds of each rate";
}

TEST(SweepLimits, JctEndsTheRise) {
  const auto outcome =
      RunSweep(Rising("until-jct = \"90m\""), FillingCell, {.threads = 1, .quiet = true});
  EXPECT_EQ(Highest(outcome.cells), (Rates{{"a", "1.5"}, {"b", "1.5"}}));
}

TEST(SweepLimits, ACellThatWasCutOffEndsTheRise) {
  const auto run = [](const CellValues& values) {
    SweepCell cell = FillingCell(values);
    cell.cut_off = values[0] == "1" && values[1] == "0" && values[2] == "a";
    return cell;
  };
  const auto outcome = RunSweep(Rising("until-utilisation = 1\ncutoff = \"100h\""), run,
                                {.threads = 1, .quiet = true});
  EXPECT_EQ(Highest(outcome.cells), (Rates{{"a", "1"}, {"b", "2"}}));
}

TEST(SweepLimits, ShardsRunTheSameCells) {
  const SweepDefinition definition = Rising("until-utilisation = 0.5");
  testing_support::TempFolder path;
  std::size_t missing = 1;
  std::vector<SweepCell> cells;
  for (int shard = 1; shard <= 2; ++shard) {
    SweepFolder folder(path / "out", definition, {}, "test");
    auto outcome = RunSweep(definition, FillingCell,
                            {.threads = 1, .quiet = true, .shard = {shard, 2}, .folder = &folder});
    missing = outcome.missing;
    cells = outcome.cells;
  }
  EXPECT_EQ(missing, 0U);
  EXPECT_EQ(Highest(cells), (Rates{{"a", "2"}, {"b", "1"}}));
}

TEST(SweepLimits, FinishedCellsAreTakenUp) {
  const SweepDefinition definition = Rising("until-utilisation = 0.5");
  testing_support::TempFolder path;
  for (const std::size_t taken_up : {0U, 12U}) {
    SweepFolder folder(path / "out", definition, {}, "test");
    const auto outcome =
        RunSweep(definition, FillingCell, {.threads = 1, .quiet = true, .folder = &folder});
    EXPECT_EQ(outcome.taken_up, taken_up);
  }
}

TEST(SweepLimits, NotesSayWhereTheRiseEnded) {
  const SweepDefinition definition = Rising("until-utilisation = 0.5");
  const auto outcome = RunSweep(definition, FillingCell, {.threads = 1, .quiet = true});
  EXPECT_EQ(SweepNotes(definition, outcome.cells),
            (std::vector<std::string>{
                "policy a: reached its limit at rate 2; 2 higher values were left out.",
                "policy b: reached its limit at rate 1; 4 higher values were left out."}));
}

TEST(SweepLimits, NotesSayWhatAWindowHides) {
  const SweepDefinition definition = Rising("window-jobs = \"5..9\"");
  std::vector<SweepCell> cells =
      RunSweep(definition, FillingCell, {.threads = 1, .quiet = true}).cells;
  cells[0].hidden = 3;
  const auto notes = SweepNotes(definition, cells);
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_NE(notes[0].find("--window-jobs 5..9"), std::string::npos) << notes[0];
  EXPECT_NE(notes[1].find("policy a: 3 jobs outside the window"), std::string::npos) << notes[1];
}

TEST(SweepLimits, RefusalsNameKeyAndValue) {
  EXPECT_NE(LimitRefusal("until-utilisation = 1.5").find("'until-utilisation'"), std::string::npos);
  EXPECT_NE(LimitRefusal("until-utilisation = 1.5").find("got '1.5'"), std::string::npos);
  EXPECT_NE(LimitRefusal("cutoff = \"0\"").find("'cutoff' must be a time > 0, got '0'"),
            std::string::npos);
  ExpectError(ExitCode::kUsage, {"got '1' after 2"}, [&] {
    SweepFromJson(ParseToml("rates = [2, 1]\nuntil-jct = \"1d\"", "test"), {}, "test");
  });
}

}  // namespace
}  // namespace allot
