#include "report/plot.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"
#include "metrics/sweep_results.h"
#include "report/evaluation_runs.h"
#include "report/figure.h"
#include "report/figure_svg.h"
#include "report/report_figures.h"
#include "report/report_lengths.h"
#include "report/training_curves.h"

namespace allot {
namespace {

std::vector<Figure> FiguresIn(const std::filesystem::path& folder) {
  std::vector<Figure> figures;
  const auto add = [&figures](const FigureSource& source) {
    for (Figure& figure : FiguresOf(source)) figures.push_back(std::move(figure));
  };
  if (HoldsSweep(folder)) {
    const SweepResults sweep = ReadSweepResults(folder);
    add({.sweep = &sweep});
  }
  if (std::filesystem::exists(folder / "evaluation.json")) {
    Palette palette;
    palette.Add(ReadEvaluation(folder));
    const EvaluationRuns runs = ReadEvaluationRuns(folder, palette);
    add({.evaluation = &runs});
  }
  if (HoldsLengths(folder)) {
    for (const LengthCurves& curves : ReadLengths(folder)) add({.lengths = &curves});
  }
  const TrainingCurves training = ReadTrainingCurves(folder);
  add({.training = &training});
  return figures;
}

}  // namespace

std::vector<std::string> PlotFigures(const PlotInput& input) {
  const std::vector<Figure> figures = FiguresIn(input.results);
  if (figures.empty()) {
    throw UsageError(
        "plot: '{}' must hold evaluation.json, a sweep's results.json, lengths.csv, curve.csv or "
        "pretrain.csv, got none of them",
        input.results);
  }
  std::vector<std::string> ids;
  for (const Figure& figure : figures) {
    if (std::find(ids.begin(), ids.end(), figure.id) == ids.end()) ids.push_back(figure.id);
  }
  for (const std::string& wanted : input.figures) {
    if (std::find(ids.begin(), ids.end(), wanted) == ids.end()) {
      throw UsageError("plot: '{}' has no figure '{}'{}", input.results, wanted,
                       DidYouMean(wanted, ids));
    }
  }
  std::vector<std::string> paths;
  std::map<std::string, std::size_t> count;
  for (const Figure& figure : figures) {
    const std::size_t number = count[figure.id]++;
    if (!input.figures.empty() &&
        std::find(input.figures.begin(), input.figures.end(), figure.id) == input.figures.end()) {
      continue;
    }
    const std::filesystem::path base =
        std::filesystem::path(input.out) / FigureFileName(figure, number);
    WriteTextFile(base.string() + ".svg", FigureSvg(figure, {.standalone = true}));
    WriteTextFile(base.string() + ".csv", FigureCsv(figure));
    paths.push_back(base.string() + ".svg");
  }
  return paths;
}

}  // namespace allot
