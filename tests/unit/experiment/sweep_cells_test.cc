#include "experiment/sweep_cells.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "experiment/world_options.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/experiment/small_trace.h"

namespace allot {
namespace {

using testing_support::SmallTrace;

SweepDefinition DefinitionOf(const SmallTrace& trace) {
  return SweepFromJson({{"workload", trace.path()},
                        {"rigid", true},
                        {"interval", 10},
                        {"restart-cost", 0},
                        {"length-estimates", "true"},
                        {"clusters", {"1x1", "1x2"}},
                        {"policies", {"fifo", "srtf"}}},
                       SweepableOptions(), "test");
}

TEST(SweepCells, RunsTheWorldAndThePolicyOfEachCell) {
  const SmallTrace trace("long,0,1,200\nshort,0,1,100\n");
  const SweepDefinition definition = DefinitionOf(trace);
  SweepCells cells(definition, 2);
  cells.CheckAll();
  std::vector<double> jcts;
  for (const CellValues& cell : CellsOf(definition)) {
    jcts.push_back(cells.Run(cell).summary.avg_jct_s);
  }
  EXPECT_EQ(jcts, (std::vector{250.0, 200.0, 150.0, 150.0}));  // 1x1: fifo, srtf; 1x2: both fit
  EXPECT_EQ(cells.read_reports().size(), 1U) << "the trace is read once";
}

TEST(SweepCells, ChecksWorldsBeforeAnythingRuns) {
  const SmallTrace trace("a,0,1,200\n");
  SweepDefinition definition = DefinitionOf(trace);
  definition.world["interval"] = "soon";
  ExpectError(ExitCode::kUsage,
              {"--interval: must be a time like 90 (seconds), 250ms, 5m, 1h30m, 2d, 1 week or "
               "1-02:03:04, got 'soon'"},
              [&] { SweepCells(definition, 1).CheckAll(); });
}

TEST(SweepableOptions, AreThoseOfWorldsButForTheFactorsOfEverySweep) {
  const auto names = SweepableOptions();
  const auto holds = [&](const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  EXPECT_TRUE(holds("workload") && holds("interval") && holds("setting"));
  for (const char* factor : {"cluster", "load", "rate", "seed", "workloads"}) {
    EXPECT_FALSE(holds(factor)) << factor;
  }
  EXPECT_EQ(names.size() + 5, WorldOptionTable().size());
}

}  // namespace
}  // namespace allot
