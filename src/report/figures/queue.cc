// Jobs that wait, over time.

#include <algorithm>
#include <cmath>

#include "metrics/curves.h"
#include "report/evaluation_runs.h"

namespace allot {
namespace {

constexpr int kQueuePoints = 300;

std::vector<Figure> QueueFigures(const FigureSource& source) {
  std::vector<Figure> figures;
  if (source.evaluation == nullptr) return figures;
  const EvaluationRuns& runs = *source.evaluation;
  for (std::size_t w = 0; w < runs.drawn; ++w) {
    double begin = kNever;
    double until = 0;  // nobody waits any more
    for (const RunFigures& run : runs.runs[w]) {
      begin = std::min(begin, run.begin);
      const RunTimeline& line = run.timeline;
      for (std::size_t i = 0; i < line.time.size(); ++i) {
        if (line.waiting[i] <= 0) continue;
        until = std::max(until, i + 1 < line.time.size() ? line.time[i + 1] : run.end);
      }
    }
    if (!(until > begin)) continue;
    until = begin + (until - begin) * 1.02;
    FigurePanel panel;
    double top = 1;
    for (std::size_t r = 0; r < runs.rows.size(); ++r) {
      const RunFigures& run = runs.runs[w][r];
      FigureSeries series = runs.Series(r);
      const std::vector<double> means =
          BucketMeans(run.timeline.time, run.timeline.waiting, run.end, begin, until, kQueuePoints);
      for (int i = 0; i < kQueuePoints; ++i) {
        const double y = means[static_cast<std::size_t>(i)];
        series.points.push_back({(i + 0.5) * (until - begin) / kQueuePoints, y});
        if (std::isfinite(y)) top = std::max(top, y);
      }
      panel.series.push_back(std::move(series));
    }
    panel.x = {.key = "time_s",
               .label = "time since the first submission",
               .low = 0,
               .high = until - begin,
               .unit = AxisUnit::kSeconds};
    panel.y = {.key = "waiting_jobs",
               .label = "jobs that wait",
               .low = 0,
               .high = top * 1.1,
               .scale = AxisScale::kFromZero};
    Figure figure{.id = "queue",
                  .title = "Queue length",
                  .caption =
                      "Jobs waiting for GPUs, log scale above 1, until the last one of any "
                      "policy starts."};
    figure.panels.push_back(std::move(panel));
    figure.wide = figure.zoom = true;
    runs.Choose(w, &figure);
    figures.push_back(std::move(figure));
  }
  return figures;
}

ALLOT_REGISTER(FigureInfo, (FigureInfo{"queue", "jobs that wait, over time", 25, QueueFigures}));

}  // namespace
}  // namespace allot
