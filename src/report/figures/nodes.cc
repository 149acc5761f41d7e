// Nodes of a cluster whose size follows its use.

#include <algorithm>
#include <cmath>

#include "metrics/curves.h"
#include "report/evaluation_runs.h"

namespace allot {
namespace {

constexpr int kNodePoints = 300;

std::vector<Figure> NodeFigures(const FigureSource& source) {
  std::vector<Figure> figures;
  if (source.evaluation == nullptr || source.evaluation->evaluation.autoscale.empty())
    return figures;
  const EvaluationRuns& runs = *source.evaluation;
  for (std::size_t w = 0; w < runs.drawn; ++w) {
    double begin = kNever;
    double end = 0;
    for (const RunFigures& run : runs.runs[w]) {
      begin = std::min(begin, run.begin);
      end = std::max(end, run.end);
    }
    if (!(end > begin)) continue;
    FigurePanel panel;
    double top = 1;
    for (std::size_t r = 0; r < runs.rows.size(); ++r) {
      const RunFigures& run = runs.runs[w][r];
      if (run.timeline.nodes.empty()) continue;
      FigureSeries series = runs.Series(r);
      const std::vector<double> means =
          BucketMeans(run.timeline.time, run.timeline.nodes, run.end, begin, end, kNodePoints);
      for (int i = 0; i < kNodePoints; ++i) {
        const double y = means[static_cast<std::size_t>(i)];
        series.points.push_back({(i + 0.5) * (end - begin) / kNodePoints, y});
        if (std::isfinite(y)) top = std::max(top, y);
      }
      panel.series.push_back(std::move(series));
    }
    panel.x = {.key = "time_s",
               .label = "time since the first submission",
               .low = 0,
               .high = end - begin,
               .unit = AxisUnit::kSeconds};
    panel.y = {.key = "nodes", .label = "nodes", .low = 0, .high = top * 1.1};
    Figure figure{.id = "nodes",
                  .title = "Nodes",
                  .caption = "Nodes that were there, of a cluster that follows its use."};
    figure.panels.push_back(std::move(panel));
    figure.wide = figure.zoom = true;
    runs.Choose(w, &figure);
    figures.push_back(std::move(figure));
  }
  return figures;
}

ALLOT_REGISTER(FigureInfo,
               (FigureInfo{"nodes", "nodes that were there, with --autoscale", 90, NodeFigures}));

}  // namespace
}  // namespace allot
