// The reference against each policy: mean ratio with its interval, and a dot for each workload.

#include <cmath>

#include "report/evaluation_runs.h"
#include "report/figure.h"

namespace allot {
namespace {

std::vector<Figure> RatioFigures(const FigureSource& source) {
  if (source.evaluation == nullptr || source.evaluation->rows.size() < 2) return {};
  const EvaluationRuns& runs = *source.evaluation;
  FigurePanel panel;
  panel.x = {.key = "ratio", .label = "ratio of average JCT"};
  panel.line = 1;
  std::vector<double> values = {0.9, 1.1};
  std::string reference;
  for (std::size_t r = 0; r < runs.rows.size(); ++r) {
    const PolicyRow& row = runs.rows[r];
    if (row.reference) reference = runs.evaluation.policies[row.policy].label;
    if (!std::isfinite(row.ratio.mean)) continue;
    const double place = static_cast<double>(panel.y.rows.size()) + 0.5;
    panel.y.rows.push_back(row.name);
    FigureSeries mean = runs.Series(r);
    mean.mark = FigureSeries::Mark::kDots;
    FigureSeries each = mean;
    mean.strong = true;
    each.strong = false;
    mean.points = {{row.ratio.mean, place}};
    values.push_back(row.ratio.mean);
    if (!row.reference && row.ratio.has_interval() && std::isfinite(row.ratio.low)) {
      mean.points.front().low = row.ratio.low;
      mean.points.front().high = row.ratio.high;
      values.insert(values.end(), {row.ratio.low, row.ratio.high});
    }
    for (const double ratio : row.ratios) {
      if (row.reference || !(ratio > 0)) continue;
      each.points.push_back({ratio, place});
      values.push_back(ratio);
    }
    if (each.points.size() > 1) panel.series.push_back(std::move(each));
    panel.series.push_back(std::move(mean));
  }
  panel.y.key = "policy";
  FitLogAxis(&panel.x, values, 1);
  Figure figure{.id = "ratios",
                .title = reference + " against each policy",
                .caption =
                    "Ratio of average JCT: mean and 95 % interval, one faint dot per "
                    "workload. Left of 1, " +
                    reference + " is faster."};
  figure.height = 34.0 * static_cast<double>(panel.y.rows.size());
  figure.legend = false;
  figure.panels.push_back(std::move(panel));
  return {figure};
}

ALLOT_REGISTER(FigureInfo, (FigureInfo{"ratios", "the reference against each policy, by workload",
                                       10, RatioFigures}));

}  // namespace
}  // namespace allot
