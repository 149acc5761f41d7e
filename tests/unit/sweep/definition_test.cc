// Definitions: what is written becomes these cells, and what is mistaken is said.

#include "sweep/definition.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "sweep/definition_file.h"
#include "sweep/preset.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

const WorldOptions kWorld = {"workload", "profile", "interval",     "speedup",   "rigid",
                             "jobs",     "tail",    "restart-cost", "catalogue", "length-estimates",
                             "setting"};

SweepDefinition Read(std::string_view toml) {
  return SweepFromJson(ParseToml(toml, "test.toml"), kWorld, "test.toml");
}

std::string FaultOf(std::string_view toml, ExitCode code = ExitCode::kUsage) {
  return ErrorOf(code, [&] { Read(toml); });
}

TEST(SweepDefinition, IsTheCrossProductWithPoliciesFastest) {
  const SweepDefinition sweep = Read("loads = [0.5, 1]\npolicies = [\"fifo\", \"las\"]");
  const std::vector<CellValues> cells = CellsOf(sweep);
  ASSERT_EQ(cells.size(), 4U);
  EXPECT_EQ(CellText(sweep, cells[0]), "load 0.5, seed 0, policy fifo");
  EXPECT_EQ(CellText(sweep, cells[1]), "load 0.5, seed 0, policy las");
  EXPECT_EQ(CellText(sweep, cells[2]), "load 1, seed 0, policy fifo");
}

TEST(SweepDefinition, TakesRangesAndOneSpellingOfANumber) {
  EXPECT_EQ(Read("seeds = \"3..5\"").factors[0].values, (std::vector<std::string>{"3", "4", "5"}));
  EXPECT_EQ(Read("loads = [1.0, \"0.50\"]").factors[0].values,
            (std::vector<std::string>{"1", "0.5"}));
  // Past what a double holds exactly.
  EXPECT_EQ(Read("seeds = [9007199254740993, \"18446744073709551615\"]").factors[0].values,
            (std::vector<std::string>{"9007199254740993", "18446744073709551615"}));
}

TEST(SweepDefinition, PutsStagesIntoThePolicysSpec) {
  const SweepDefinition sweep = Read(
      "policies = \"las:queues=60\"\nadmission = \"load:factor=1.2\"\nplacement = \"first-fit\"");
  EXPECT_EQ(PolicySpecOf(sweep, CellsOf(sweep)[0]),
            "las:queues=60,admission=load/factor=1.2,placement=first-fit");
}

TEST(SweepDefinition, GivesTheWorldItsOptionsFactorsAndExceptions) {
  const SweepDefinition sweep = Read(
      "profile = \"blox\"\nrates = [1, 2]\npolicies = [\"fifo\", \"optimus\"]\n"
      "vary = { interval = [60] }\nwhere = [{ policy = \"optimus\", rate = 1.0, speedup = 5 }]");
  const std::map<std::string, std::string> plain = {
      {"profile", "blox"}, {"rate", "1"}, {"seed", "0"}, {"interval", "60"}};
  auto fast = plain;
  fast["speedup"] = "5";
  const std::vector<CellValues> cells = CellsOf(sweep);
  EXPECT_EQ(WorldOptionsOf(sweep, cells[0]), plain) << CellText(sweep, cells[0]);
  EXPECT_EQ(WorldOptionsOf(sweep, cells[1]), fast) << CellText(sweep, cells[1]);
  EXPECT_FALSE(WorldOptionsOf(sweep, cells[3]).contains("speedup")) << CellText(sweep, cells[3]);
}

TEST(SweepDefinition, ReadsBackFromItsJson) {
  for (const SweepPreset& preset : Registry<SweepPreset>::Global().entries()) {
    const auto json = ToJson(Read(preset.toml));
    EXPECT_EQ(ToJson(SweepFromJson(json, kWorld, preset.id)), json) << preset.id;
  }
}

TEST(SweepDefinition, OfBloxFigure6Has27Cells) {
  const auto* preset = Registry<SweepPreset>::Global().Find("blox-fig6");
  ASSERT_NE(preset, nullptr);
  EXPECT_EQ(CellsOf(Read(preset->toml)).size(), 27U);
}

TEST(SweepDefinition, OverlaysReplaceWhatTheyContradict) {
  const auto below =
      ParseToml("window-jobs = \"1..2\"\nreference = \"las\"\nvary = { interval = [1, 2] }", "b");
  const auto above = ParseToml("warm-up = \"2d\"\npolicies = \"fifo\"\ninterval = 7", "a");
  const auto json = Overlaid(below, above);
  EXPECT_FALSE(json.contains("window-jobs"));
  EXPECT_FALSE(json.contains("reference")) << "las is no longer among the policies";
  EXPECT_FALSE(json["vary"].contains("interval"));
  EXPECT_EQ(json["interval"], 7);
}

TEST(SweepDefinition, NamesWhatIsWrong) {
  EXPECT_EQ(FaultOf("polices = [\"fifo\"]"),
            "test.toml: unknown key 'polices' (did you mean 'policies'?)");
  EXPECT_EQ(FaultOf("vary = { intervall = [1] }"),
            "test.toml: unknown option 'intervall' to vary (did you mean 'interval'?)");
  EXPECT_EQ(FaultOf("loads = [1, 1.0]"),
            "test.toml: a value of 'loads' must be given once, got '1' twice");
  EXPECT_EQ(FaultOf("policies = [\"fifo\", \"las\"]\nreference = \"srtf\""),
            "test.toml: the reference must be one of the values of 'policy' (fifo, las), got "
            "'srtf'");
  EXPECT_EQ(FaultOf("interval = 5\nvary = { interval = [60] }"),
            "test.toml: 'interval' is given as 5 and varies over [60]");
  EXPECT_EQ(FaultOf("window-jobs = \"1..2\"\nwarm-up = \"1d\""),
            "test.toml: a sweep measures in one window, got 'warm-up' and 'window-jobs'");
  EXPECT_EQ(FaultOf("seeds = \"9..0\""),
            "test.toml: a range of 'seeds' must be LOW..HIGH, LOW at most HIGH, got 9 and 0 "
            "('9..0')");
  EXPECT_EQ(FaultOf("seeds = [1, \"x\"]"),
            "test.toml: 'seeds' must be whole numbers from 0 to 18446744073709551615, got 'x', "
            "value 2 of 2");
  EXPECT_EQ(FaultOf("loads = [0.5, \"x\"]"),
            "test.toml: 'loads' must be numbers, got 'x', value 2 of 2");
  EXPECT_EQ(FaultOf("seeds = \"-9223372036854775807..9223372036854775807\""),
            "test.toml: a range of 'seeds' must be LOW..HIGH of at most 100000 values, got "
            "'-9223372036854775807..9223372036854775807'");
  EXPECT_EQ(FaultOf("loads = [1", ExitCode::kBadData),
            "test.toml:1: must be TOML: Error while parsing array: "
            "encountered end-of-file");
}

}  // namespace
}  // namespace allot
