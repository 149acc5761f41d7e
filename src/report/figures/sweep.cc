// A sweep along its first numeric factor, a curve for every combination of the others, and
// distributions where most curves reach farthest.

#include <algorithm>
#include <cmath>
#include <iterator>

#include "report/figure.h"
#include "report/figure_parts.h"
#include "report/report_sweep.h"

namespace allot {
namespace {

struct SweptFigure {
  const char* id;
  const char* title;
  const char* caption;  // {}: the factor
  AxisUnit unit;
  PairedRatio SweepRow::*value;
};

const SweptFigure kSwept[] = {
    {"sweep_jct", "Average JCT", "By {}; bars are 95 % intervals.", AxisUnit::kSeconds,
     &SweepRow::avg_jct_s},
    {"sweep_p95", "95th percentile of JCT", "By {}.", AxisUnit::kSeconds, &SweepRow::p95_jct_s},
    {"sweep_queueing", "Queueing", "Mean time to the first start, by {}.", AxisUnit::kSeconds,
     &SweepRow::avg_queueing_s},
    {"sweep_gpus", "GPU use", "Share of the cluster's GPU time, by {}.", AxisUnit::kShare,
     &SweepRow::gpu_utilisation},
    {"sweep_makespan", "Makespan", "First submission to last completion, by {}.",
     AxisUnit::kSeconds, &SweepRow::makespan_s},
    {"sweep_fairness", "Finish-time fairness",
     "Mean over the jobs, by {}. Below 1: better than a share of one's own.", AxisUnit::kNumber,
     &SweepRow::avg_fairness}};

FigureSeries StyleOf(const SweepCurve& curve) {
  return {.name = curve.name, .colour = curve.colour, .dash = curve.dash};
}

Figure AlongFactor(const SweptFigure& what, const SweepCurves& curves) {
  FigurePanel panel;
  std::vector<double> values;
  std::vector<double> xs;
  const bool intervals = what.value == &SweepRow::avg_jct_s;
  for (const SweepCurve& curve : curves.curves) {
    FigureSeries series = StyleOf(curve);
    for (const auto& [x, row] : curve.points) {
      const PairedRatio& value = row->*what.value;
      FigurePoint& point = series.points.emplace_back();
      point.x = x;
      point.y = value.mean;
      xs.push_back(x);
      values.push_back(value.mean);
      if (!intervals || !std::isfinite(value.low) || !value.has_interval()) continue;
      point.low = value.low;
      point.high = value.high;
      values.insert(values.end(), {std::max(value.low, 0.0), value.high});
    }
    panel.series.push_back(std::move(series));
  }
  panel.x = {.key = curves.along, .label = curves.along};
  if (!xs.empty()) {
    const auto [low, high] = std::minmax_element(xs.begin(), xs.end());
    panel.x.low = *low;
    panel.x.high = *high > *low ? *high : *low + 1;
    // The values that were run, where all of them have room.
    std::sort(xs.begin(), xs.end());
    xs.erase(std::unique(xs.begin(), xs.end()), xs.end());
    if (xs.size() <= 6) panel.x.ticks = xs;
  }
  panel.y = {.key = std::string(what.id).substr(6), .label = what.title, .unit = what.unit};
  if (what.unit == AxisUnit::kSeconds) {
    FitLogAxis(&panel.y, values);
  } else {
    FitAxis(&panel.y, values, true);
  }
  return {.id = what.id,
          .title = what.title,
          .caption = fmt::format(fmt::runtime(what.caption), curves.along),
          .panels = {std::move(panel)}};
}

Figure SweptDistribution(const SweepCurves& curves, bool fairness) {
  FigurePanel panel;
  std::vector<double> bounds;
  for (const SweepCurve& curve : curves.curves) {
    if (curve.distribution == nullptr) continue;
    FigureSeries series = StyleOf(curve);
    series.mark = FigureSeries::Mark::kSteps;
    const std::vector<double>& quantiles =
        fairness ? curve.distribution->fairness_quantiles : curve.distribution->jct_quantiles_s;
    series.points = DistributionSteps(quantiles, fairness ? 0 : 0.1, &bounds);
    panel.series.push_back(std::move(series));
  }
  panel.x =
      fairness
          ? FigureAxis{.key = "fairness", .label = "finish-time fairness"}
          : FigureAxis{.key = "jct_s", .label = "job completion time", .unit = AxisUnit::kSeconds};
  if (fairness) {
    FitAxis(&panel.x, bounds, true);
  } else {
    FitLogAxis(&panel.x, bounds);
  }
  panel.y = ShareOfJobsAxis();
  const std::string at =
      curves.along.empty() ? "" : fmt::format("At {} {}. ", curves.along, curves.distributed_at);
  return {.id = fairness ? "sweep_fairness_cdf" : "sweep_jct_cdf",
          .title = fairness ? "Distribution of finish-time fairness" : "Distribution of JCT",
          .caption = at + "Share of the jobs; quantiles are averaged over the seeds.",
          .panels = {std::move(panel)}};
}

std::vector<Figure> SweepFigures(const FigureSource& source) {
  std::vector<Figure> figures;
  if (source.sweep == nullptr) return figures;
  const std::vector<SweepRow> rows = Aggregate(*source.sweep);
  const SweepCurves curves = CurvesOf(*source.sweep, rows);
  if (!curves.along.empty()) {
    for (const SweptFigure& what : kSwept) figures.push_back(AlongFactor(what, curves));
  }
  for (const bool fairness : {false, true}) figures.push_back(SweptDistribution(curves, fairness));
  return figures;
}

ALLOT_REGISTER(FigureInfo,
               (FigureInfo{"sweep", "a sweep along its numeric factor", 10, SweepFigures}));

}  // namespace
}  // namespace allot
