#include "report/figure.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "cluster/topology_text.h"
#include "core/error.h"
#include "core/file.h"
#include "report/figure_parts.h"
#include "report/figure_svg.h"
#include "report/figure_text.h"
#include "report/held_gpus.h"
#include "report/plot.h"
#include "report/training_curves.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"
#include "tests/unit/metrics/evaluation_fixture.h"

namespace allot {
namespace {

std::vector<std::string> TextsOf(const FigureAxis& axis, int count) {
  std::vector<std::string> texts;
  for (const auto& [place, text] : AxisTicks(axis, count)) texts.push_back(text);
  return texts;
}

// No two ticks read alike, however narrow the range.
TEST(FigureAxis, TicksCanBeToldApart) {
  for (const double high : {0.8251, 0.82, 0.85, 1.0, 3.0, 1e-4 + 0.81}) {
    for (const AxisUnit unit : {AxisUnit::kShare, AxisUnit::kNumber}) {
      const auto texts = TextsOf({.low = 0.81, .high = high, .unit = unit}, 4);
      EXPECT_GE(texts.size(), 2U) << high;
      EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), texts.size()) << high;
    }
  }
  EXPECT_EQ(TextsOf({.low = 0.809, .high = 0.8251, .unit = AxisUnit::kShare}, 4),
            (std::vector<std::string>{"81.0 %", "81.5 %", "82.0 %", "82.5 %"}));
}

TEST(FigureAxis, TimesAreInUnitsOfTime) {
  EXPECT_EQ(TextsOf({.low = 0, .high = 7 * 86400, .unit = AxisUnit::kSeconds}, 4),
            (std::vector<std::string>{"0", "2 d", "4 d", "6 d"}));
  EXPECT_EQ(TextsOf({.low = 0, .high = 3600, .unit = AxisUnit::kSeconds}, 3),
            (std::vector<std::string>{"0", "20 min", "40 min", "60 min"}));
}

// Also where a logarithmic axis is shorter than a power of ten.
TEST(FigureAxis, LogarithmicTicksAreThere) {
  for (const double high : {250.0, 400.0, 1010.0, 1e5, 1e7}) {
    for (const AxisUnit unit : {AxisUnit::kSeconds, AxisUnit::kNumber}) {
      const FigureAxis axis = {.low = 200, .high = high, .unit = unit, .scale = AxisScale::kLog};
      const auto ticks = AxisTicks(axis, 5);
      EXPECT_GE(ticks.size(), 3U) << high;
      EXPECT_LE(ticks.size(), 10U) << high;
    }
  }
}

TEST(FigureAxis, ANarrowRatioAxisHasThreeTicks) {
  for (const auto& [low, high] :
       {std::pair(0.82, 1.21), {0.33, 1.2}, {0.97, 1.04}, {0.5, 1.15}, {0.9, 30.0}}) {
    const FigureAxis axis = {.low = low, .high = high, .scale = AxisScale::kLog};
    EXPECT_GE(AxisTicks(axis, 2).size(), 3U) << low << " to " << high;
  }
}

TEST(FigureParts, AFewValuesAreSteps) {
  std::vector<double> bounds;
  const auto points = DistributionSteps({5, kUnknown, 1, 3}, 2, &bounds);
  ASSERT_EQ(points.size(), 4U);
  EXPECT_EQ(points[0].y, 0);
  EXPECT_EQ(points[1].x, 2) << "not below the least";
  EXPECT_EQ(points[3].x, 5);
  EXPECT_EQ(points[3].y, 0.75) << "the unknown one is never reached";
  EXPECT_EQ(bounds, (std::vector<double>{2, 5}));
}

// Before the first iteration no step was made: a rate of 0 there is none.
TEST(Figures, TheLearningRateBeginsWithTheFirstStep) {
  TrainingCurves training;
  training.curve = NumberColumns{{"iteration", {0, 1, 2}},
                                 {"validation_ratio", {0.9, kUnknown, 0.8}},
                                 {"learning_rate", {0, 0.004, 0.003}}};
  const std::vector<Figure> figures = FiguresOf({.training = &training});
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_EQ(
      FigureCsv(figures[1]),
      "panel,series,iteration,learning_rate\n,learning rate,1,0.004\n,learning rate,2,0.003\n");
  EXPECT_GT(figures[1].panels[0].y.high, 0.004);
}

TEST(FigureSvg, AFileOfItsOwnNeedsNothingElse) {
  Figure figure{.id = "one", .title = "A & B"};
  figure.panels.push_back({.series = {{.name = "a<b", .points = {{0, 0}, {1, 1}}},
                                      {.name = "c", .colour = 9, .points = {{0, 1}, {1, 0}}}}});
  const std::string file = FigureSvg(figure, {.standalone = true});
  EXPECT_NE(file.find("width=\"3.300in\""), std::string::npos);
  EXPECT_EQ(file.find("var("), std::string::npos) << "colours are literal";
  EXPECT_NE(file.find(">a&lt;b</text>"), std::string::npos) << "text can be searched and changed";
  EXPECT_NE(file.find("sans-serif"), std::string::npos);
  EXPECT_NE(file.find("aria-label=\"A &amp; B\""), std::string::npos);
  const std::string part = FigureSvg(figure, {.width = 538});
  EXPECT_NE(part.find(">a&lt;b</text>"), std::string::npos);
  EXPECT_EQ(part.find("<style"), std::string::npos);
}

TEST(FigureText, LettersHaveWidth) {
  EXPECT_GT(TextWidth("mmm", 10), TextWidth("iii", 10));
  EXPECT_EQ(TextWidth("ä", 10), TextWidth("a", 10)) << "one letter, two bytes";
  EXPECT_EQ(FittedText("abcdef", 10, 1000), "abcdef");
  EXPECT_LE(TextWidth(FittedText("abcdefghijkl", 10, 40), 10), 40);
  EXPECT_EQ(FittedText("ääää", 10, 20), "ää…") << "whole letters";
}

// Of the small evaluation: job i asks for 1 + i % 4 GPUs and holds them from 20 i on.
std::string CsvOfFigure(const std::string& id, const std::string& topology = "") {
  const testing_support::TempFolder folder;
  Evaluation evaluation = testing_support::SmallEvaluation();
  evaluation.topology = topology;
  testing_support::WriteSmallEvaluation(folder / "eval", evaluation);
  Palette palette;
  palette.Add(evaluation);
  const EvaluationRuns runs = ReadEvaluationRuns(folder / "eval", palette);
  for (const Figure& figure : FiguresOf({.evaluation = &runs})) {
    if (figure.id == id) return FigureCsv(figure);
  }
  return "no such figure";
}

TEST(Figures, JctIsSplitBySizeAndTenant) {
  const std::string by_size = CsvOfFigure("jct_by_size");
  EXPECT_NE(by_size.find(",fifo,560,1 GPU (6)\n"), std::string::npos) << by_size;
  const std::string by_tenant = CsvOfFigure("jct_by_tenant");
  EXPECT_NE(by_tenant.find(",fifo,470,vc1 (14)\n"), std::string::npos) << by_tenant;
  EXPECT_EQ(CsvOfFigure("jct_by_user"), "no such figure") << "jobs name no user";
}

TEST(Figures, SlowdownIsOverTheRunTime) {
  EXPECT_NE(CsvOfFigure("slowdown").find(",fifo,2,0.05\n"), std::string::npos)
      << "200 s over 100 s";
}

TEST(Figures, JobsAreDrawnWithWhatTheyHold) {
  const std::string gantt = CsvOfFigure("gantt");
  EXPECT_NE(gantt.find(",job2,20,40,0.25,waits\n"), std::string::npos) << gantt;
  EXPECT_NE(gantt.find(",3 GPUs on node 0\n"), std::string::npos) << gantt;
  EXPECT_NE(CsvOfFigure("heat").find(",node 0,"), std::string::npos);
}

TEST(Figures, NodesLieInTheOrderOfTheTree) {
  EXPECT_NE(CsvOfFigure("heat", "leaf=2").find(",leaf 0: node 0,"), std::string::npos);
}

TEST(HeldGpus, WordsNameTheLevelOfSeveralNodes) {
  ClusterSpec cluster = ClusterSpec::Parse("4x4");
  ReadReport report;
  const auto tree = ParseTopology("leaf=2", cluster, &report);
  HeldGpus held{.gpus = 4, .nodes = {{.node = 0, .gpus = 2}, {.node = 1, .gpus = 2}}};
  EXPECT_EQ(HeldInWords(held, tree.get()), "4 GPUs on nodes 0 (2), 1 (2), in one leaf");
  held.nodes[1].node = 3;
  EXPECT_EQ(HeldInWords(held, tree.get()), "4 GPUs on nodes 0 (2), 3 (2), across the cluster");
  EXPECT_EQ(HeldInWords(held, nullptr), "4 GPUs on nodes 0 (2), 3 (2)");
}

TEST(HeldGpus, ANoteLastsUntilTheNextOrTheEnd) {
  const testing_support::TempFolder folder;
  RunFigures run;
  run.directory = folder.path();
  run.jobs.id = {"a", "b"};
  run.jobs.finish = {100, kUnknown};
  WriteTextFile(
      (folder / "allocations.csv").string(),
      "time_s,job_id,gpus,nodes\n0,a,4,0:4\n10,b,2,1:2\n20,a,6,0:4 1:2\n30,a,0,\n40,a,1,0:1\n");
  const std::vector<HeldGpus> held = ReadHeldGpus(run);
  ASSERT_EQ(held.size(), 4U);
  EXPECT_EQ(held[0].end, 20);
  EXPECT_EQ(held[1].end, kNever);
  EXPECT_EQ(held[2].end, 30);
  EXPECT_EQ(HeldInWords(held[2], nullptr), "6 GPUs on nodes 0 (4), 1 (2)");
  EXPECT_EQ(held[3].end, 100);
}

TEST(HeldGpus, MalformedNodesAreAnErrorWithTheLine) {
  const testing_support::TempFolder folder;
  RunFigures run;
  run.directory = folder.path();
  run.jobs.id = {"a"};
  run.jobs.finish = {100};
  for (const char* row : {"0,a,4,0-4", "0,nobody,4,0:4"}) {
    WriteTextFile((folder / "allocations.csv").string(),
                  std::string("time_s,job_id,gpus,nodes\n") + row + "\n");
    ExpectError(ExitCode::kBadData, {"allocations.csv:2"}, [&] { ReadHeldGpus(run); });
  }
}

TEST(Plot, WritesAFileForEachFigure) {
  const testing_support::TempFolder folder;
  testing_support::WriteSmallEvaluation(folder / "eval", testing_support::SmallEvaluation());
  const std::vector<std::string> paths =
      PlotFigures({.results = (folder / "eval").string(), .out = (folder / "out").string()});
  EXPECT_GE(paths.size(), 5U);
  for (const std::string& path : paths) {
    EXPECT_EQ(ReadTextFile(path).substr(0, 5), "<svg ") << path;
    EXPECT_TRUE(std::filesystem::exists(path.substr(0, path.size() - 3) + "csv")) << path;
  }
  const auto queue = PlotFigures({.results = (folder / "eval").string(),
                                  .out = (folder / "two").string(),
                                  .figures = {"queue"}});
  EXPECT_EQ(queue, (std::vector<std::string>{(folder / "two" / "queue.svg").string(),
                                             (folder / "two" / "queue-2.svg").string()}));
}

TEST(Plot, WhatIsNotThereIsAnErrorThatSaysWhatIs) {
  const testing_support::TempFolder folder;
  testing_support::WriteSmallEvaluation(folder / "eval", testing_support::SmallEvaluation());
  ExpectError(ExitCode::kUsage, {"did you mean 'cdf'"}, [&] {
    PlotFigures({.results = (folder / "eval").string(), .out = "x", .figures = {"cfd"}});
  });
  EXPECT_THROW(PlotFigures({.results = (folder / "").string(), .out = "x"}), Error);
}

}  // namespace
}  // namespace allot
