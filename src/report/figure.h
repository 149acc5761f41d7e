#pragma once
// A figure as data: what is drawn, not how. `FigureSvg` (figure_svg.h) is its only renderer, for
// the report and for papers; `FigureCsv` gives its numbers. A new figure is a file in
// src/report/figures/ with one ALLOT_REGISTER(FigureInfo, ...).

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/registry.h"
#include "core/types.h"
#include "report/figure_axis.h"

namespace allot {

struct EvaluationRuns;  // report/evaluation_runs.h
struct LengthCurves;    // report/report_lengths.h
struct SweepResults;    // metrics/sweep_results.h
struct TrainingCurves;  // report/training_curves.h

inline constexpr int kFigureColours = 12;

struct FigurePoint {
  double x = kUnknown;
  double y = kUnknown;
  double low = kUnknown;  // of the interval, along the values: y, or x where y has rows
  double high = kUnknown;
};

struct FigureSeries {
  std::string name{};
  int colour = 0;  // of kFigureColours
  int dash = 0;
  bool strong = false;  // the reference: thicker, on top
  enum class Mark { kLine, kSteps, kArea, kDots } mark = Mark::kLine;
  std::vector<FigurePoint> points{};  // x ascends for lines; an unknown y is a gap
};

// A filled rectangle; of a row r, y goes from r to r + 1.
struct FigureBox {
  double x0 = 0;
  double x1 = 0;
  double y0 = 0;
  double y1 = 1;
  int colour = 0;
  double shade = 1;    // 0: paper, 1: the colour
  bool edge = false;   // a line where it begins
  std::string text{};  // what it is, "4 GPUs on node 2"
};

struct FigurePanel {
  std::string name{};  // over it; "" where there is one
  std::string note{};  // beside the name
  FigureAxis x{};
  FigureAxis y{};
  std::vector<FigureSeries> series{};
  std::vector<FigureBox> boxes{};
  std::optional<double> line{};  // a dotted line across the values, as at ratio 1
  std::string line_label{};
};

struct Figure {
  std::string id{};  // "cdf"; file name of `allot plot`
  std::string title{};
  std::string caption{};
  std::vector<FigurePanel> panels{};
  double height = 260;       // of one panel
  bool wide = false;         // as wide as the page
  bool zoom = false;         // x can be zoomed on the page
  bool legend = true;        // of the series, where a panel has several
  double panel_width = 1e9;  // panels are set side by side where this fits
  // Figures of one id are shown one at a time: "workload" and "2 of 4, seed 7".
  std::string choice_kind{};
  std::string choice{};
};

inline constexpr const char* kPolicyChoice = "Policy";  // a choice_kind: a figure for each policy

// What figures are made of; null for what a section of a report is not about.
struct FigureSource {
  const EvaluationRuns* evaluation = nullptr;
  const SweepResults* sweep = nullptr;
  const TrainingCurves* training = nullptr;
  const LengthCurves* lengths = nullptr;
};

struct FigureInfo {
  std::string id;
  std::string summary;
  int place = 0;  // of its figures on the page, ascending
  // None where the source has nothing of the kind.
  std::function<std::vector<Figure>(const FigureSource& source)> make;
};

// Of all that is registered, by place. Those that say nothing (no points, no boxes) are left out.
std::vector<Figure> FiguresOf(const FigureSource& source);

// Rows "panel,series,X,Y" with the keys of the axes, where intervals are known also "low,high"; of
// boxes "panel,row,from,to,shade,what". Unknown values are empty. The same bytes everywhere.
std::string FigureCsv(const Figure& figure);

}  // namespace allot
