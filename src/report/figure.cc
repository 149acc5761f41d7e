#include "report/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "metrics/csv.h"

namespace allot {
namespace {

bool SaysSomething(const Figure& figure) {
  return std::any_of(figure.panels.begin(), figure.panels.end(), [](const FigurePanel& panel) {
    if (!panel.boxes.empty()) return true;
    return std::any_of(panel.series.begin(), panel.series.end(), [](const FigureSeries& series) {
      return std::any_of(series.points.begin(), series.points.end(), [](const FigurePoint& point) {
        return std::isfinite(point.x) && std::isfinite(point.y);
      });
    });
  });
}

std::string CsvNumber(double value) {
  return std::isfinite(value) ? fmt::format("{:.7g}", value) : std::string();
}

bool HasIntervals(const Figure& figure) {
  for (const FigurePanel& panel : figure.panels) {
    for (const FigureSeries& series : panel.series) {
      for (const FigurePoint& point : series.points) {
        if (std::isfinite(point.low)) return true;
      }
    }
  }
  return false;
}

std::string RowName(const FigureAxis& axis, double row) {
  const auto at = static_cast<std::size_t>(std::max(row, 0.0));
  return at < axis.rows.size() ? axis.rows[at] : CsvNumber(row);
}

}  // namespace

std::vector<Figure> FiguresOf(const FigureSource& source) {
  std::vector<FigureInfo> infos = Registry<FigureInfo>::Global().entries();
  std::stable_sort(infos.begin(), infos.end(),
                   [](const FigureInfo& a, const FigureInfo& b) { return a.place < b.place; });
  std::vector<Figure> all;
  for (const FigureInfo& info : infos) {
    for (Figure& figure : info.make(source)) {
      if (SaysSomething(figure)) all.push_back(std::move(figure));
    }
  }
  return all;
}

std::string FigureCsv(const Figure& figure) {
  const FigurePanel& first = figure.panels.front();
  std::string text;
  const auto out = std::back_inserter(text);
  if (!first.boxes.empty()) {
    text = "panel,row,from,to,shade,what\n";
    for (const FigurePanel& panel : figure.panels) {
      for (const FigureBox& box : panel.boxes) {
        fmt::format_to(out, "{},{},{},{},{},{}\n", CsvField(panel.name),
                       CsvField(RowName(panel.y, box.y0)), CsvNumber(box.x0), CsvNumber(box.x1),
                       CsvNumber(box.shade), CsvField(box.text));
      }
    }
    return text;
  }
  const bool intervals = HasIntervals(figure);
  text =
      fmt::format("panel,series,{},{}{}\n", first.x.key, first.y.key, intervals ? ",low,high" : "");
  for (const FigurePanel& panel : figure.panels) {
    for (const FigureSeries& series : panel.series) {
      for (const FigurePoint& point : series.points) {
        fmt::format_to(
            out, "{},{},{},{}", CsvField(panel.name), CsvField(series.name),
            panel.x.rows.empty() ? CsvNumber(point.x) : CsvField(RowName(panel.x, point.x)),
            panel.y.rows.empty() ? CsvNumber(point.y) : CsvField(RowName(panel.y, point.y)));
        if (intervals) fmt::format_to(out, ",{},{}", CsvNumber(point.low), CsvNumber(point.high));
        text += '\n';
      }
    }
  }
  return text;
}

}  // namespace allot
