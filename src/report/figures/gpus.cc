// GPUs in use while jobs arrive, a panel for each policy.

#include <algorithm>
#include <cmath>

#include "metrics/curves.h"
#include "metrics/humanise.h"
#include "report/evaluation_runs.h"

namespace allot {
namespace {

constexpr int kUsePoints = 200;

std::vector<Figure> UseFigures(const FigureSource& source) {
  std::vector<Figure> figures;
  if (source.evaluation == nullptr) return figures;
  const EvaluationRuns& runs = *source.evaluation;
  for (std::size_t w = 0; w < runs.drawn; ++w) {
    const double until = runs.ArrivalsEnd(w);
    double begin = kNever;
    double end = 0;
    double top = runs.gpus;
    for (const RunFigures& run : runs.runs[w]) {
      begin = std::min(begin, run.begin);
      end = std::max(end, run.end);
      for (const double used : run.timeline.gpus_used) top = std::max(top, used);
    }
    if (!(until > begin)) continue;
    Figure figure{.id = "gpus", .title = "GPUs in use", .caption = ""};
    for (std::size_t r = 0; r < runs.rows.size(); ++r) {
      const RunFigures& run = runs.runs[w][r];
      FigurePanel panel;
      panel.name = runs.rows[r].name;
      panel.note = HumanShare(run.UseUntil(until, runs.gpus));
      FigureSeries series = runs.Series(r);
      series.mark = FigureSeries::Mark::kArea;
      const std::vector<double> means =
          BucketMeans(run.timeline.time, run.timeline.gpus_used, run.end, begin, until, kUsePoints);
      for (int i = 0; i < kUsePoints; ++i) {
        series.points.push_back(
            {(i + 0.5) * (until - begin) / kUsePoints, means[static_cast<std::size_t>(i)]});
      }
      panel.series.push_back(std::move(series));
      panel.x = {.key = "time_s", .low = 0, .high = until - begin, .unit = AxisUnit::kSeconds};
      panel.y = {.key = "gpus", .low = 0, .high = top, .ticks = {0, top}};
      figure.panels.push_back(std::move(panel));
    }
    figure.caption = fmt::format(
        "Of {} GPUs, by time since the first submission; beside the name the use of this time.",
        runs.gpus);
    if (end > until) {
      figure.caption += fmt::format(
          " Shown until the last submission after {}; the last job of any policy ends after {}.",
          HumanDuration(until - begin), HumanDuration(end - begin));
    }
    figure.height = 72;
    figure.wide = true;
    figure.legend = false;
    figure.panel_width = 240;
    runs.Choose(w, &figure);
    figures.push_back(std::move(figure));
  }
  return figures;
}

ALLOT_REGISTER(FigureInfo,
               (FigureInfo{"gpus", "GPUs in use while jobs arrive, by policy", 70, UseFigures}));

}  // namespace
}  // namespace allot
