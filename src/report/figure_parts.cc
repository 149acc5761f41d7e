#include "report/figure_parts.h"

#include <algorithm>
#include <cmath>

#include "metrics/curves.h"

namespace allot {
namespace {

constexpr std::size_t kSteps = 200;
constexpr std::size_t kCurvePoints = 400;

}  // namespace

FigureAxis ShareOfJobsAxis() {
  return {.key = "share_of_jobs",
          .label = "share of jobs",
          .unit = AxisUnit::kShare,
          .ticks = {0, 0.25, 0.5, 0.75, 1}};
}

std::vector<FigurePoint> DistributionSteps(std::vector<double> values, double least,
                                           std::vector<double>* bounds) {
  const auto all = static_cast<double>(values.size());
  std::erase_if(values, [](double v) { return std::isnan(v); });
  std::vector<FigurePoint> points;
  if (values.empty()) return points;
  const double reached = static_cast<double>(values.size()) / all;
  std::sort(values.begin(), values.end());
  if (values.size() > kSteps) values = EvenQuantiles(std::move(values), static_cast<int>(kSteps));
  points.reserve(values.size() + 1);
  points.push_back({std::max(values.front(), least), 0});
  for (std::size_t i = 0; i < values.size(); ++i) {
    points.push_back({RoundedTo(std::max(values[i], least), 5),
                      reached * static_cast<double>(i + 1) / static_cast<double>(values.size())});
  }
  bounds->push_back(points.front().x);
  bounds->push_back(points.back().x);
  return points;
}

FigurePanel CurvePanel(const NumberColumns& table, const std::string& x_name,
                       const std::vector<CurveColumn>& columns, const std::vector<double>& also) {
  FigurePanel panel;
  std::vector<double> xs;
  std::vector<double> ys = also;
  const auto x = table.find(x_name);
  for (const CurveColumn& column : columns) {
    const auto y = table.find(column.column);
    if (y == table.end()) continue;
    // Known values alone, so that thinning leaves none out.
    std::vector<double> at;
    std::vector<double> value;
    for (std::size_t i = 0; i < y->second.size(); ++i) {
      if (std::isnan(y->second[i])) continue;
      at.push_back(x == table.end() ? static_cast<double>(i + 1) : x->second[i]);
      value.push_back(y->second[i]);
    }
    at = ThinnedMeans(at, kCurvePoints);
    value = ThinnedMeans(value, kCurvePoints);
    FigureSeries series{.name = column.name, .colour = column.colour, .strong = column.strong};
    series.points.reserve(at.size());
    for (std::size_t i = 0; i < at.size(); ++i) {
      series.points.push_back({at[i], RoundedTo(value[i], 6)});
    }
    xs.insert(xs.end(), at.begin(), at.end());
    ys.insert(ys.end(), value.begin(), value.end());
    panel.series.push_back(std::move(series));
  }
  panel.x.key = panel.x.label = x_name;
  if (!xs.empty()) {
    const auto [low, high] = std::minmax_element(xs.begin(), xs.end());
    panel.x.low = *low;
    panel.x.high = *high > *low ? *high : *low + 1;
    if (panel.x.high - panel.x.low <= 4) {
      for (double tick = std::ceil(panel.x.low); tick <= panel.x.high; ++tick) {
        panel.x.ticks.push_back(tick);
      }
    }
  }
  if (ys.size() > also.size()) FitAxis(&panel.y, ys);
  return panel;
}

}  // namespace allot
