// Forecasts of lengths: covered share against the nominal one.

#include "report/figure.h"
#include "report/report_lengths.h"

namespace allot {
namespace {

std::vector<Figure> LengthFigures(const FigureSource& source) {
  if (source.lengths == nullptr) return {};
  const LengthCurves& curves = *source.lengths;
  FigurePanel panel;
  for (const LengthCurve& curve : curves.by_size) {
    FigureSeries series{.name = curve.gpus == "all" ? curve.gpus : curve.gpus + " GPUs",
                        .colour = static_cast<int>(panel.series.size()) % 7,
                        .dash = static_cast<int>(panel.series.size()) / 7,
                        .strong = curve.gpus == "all"};
    series.points.push_back({0, 0});
    for (std::size_t i = 0; i < curve.nominal.size(); ++i) {
      series.points.push_back({curve.nominal[i], curve.covered[i]});
    }
    series.points.push_back({1, 1});
    panel.series.push_back(std::move(series));
  }
  panel.series.push_back(
      {.name = "as it should be", .colour = 7, .dash = 2, .points = {{0, 0}, {1, 1}}});
  panel.x = {.key = "nominal", .label = "quantile of the length model", .unit = AxisUnit::kShare};
  panel.y = {.key = "covered", .label = "jobs below it", .unit = AxisUnit::kShare};
  return {Figure{.id = curves.asked == "new" ? "lengths" : "lengths_under_way",
                 .title = curves.asked == "new" ? "When jobs come" : "Jobs " + curves.asked,
                 .caption = "Covered share against the nominal one. Above the diagonal, jobs are "
                            "shorter than predicted.",
                 .panels = {std::move(panel)},
                 .height = 300}};
}

ALLOT_REGISTER(FigureInfo, (FigureInfo{"lengths", "how well quantiles of job lengths hold", 10,
                                       LengthFigures}));

}  // namespace
}  // namespace allot
