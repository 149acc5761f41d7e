#include "report/figure_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "core/strings.h"
#include "metrics/html.h"
#include "report/figure_text.h"
#include "report/report_assets.h"

namespace allot {
namespace {

constexpr double kTextSize = 12.5;
constexpr double kLegendRow = 20;
constexpr double kPanelGap = 26;
constexpr int kShades = 8;
constexpr std::array<const char*, 4> kDashes = {"", "7 4", "2 4", "10 3 2 3"};
constexpr std::array<std::pair<const char*, const char*>, 5> kPaperTones = {
    {{"--paper", "#ffffff"},
     {"--ink", "#1b1d21"},
     {"--soft", "#3d424b"},
     {"--faint", "#8a909c"},
     {"--line", "#dfe2e7"}}};
constexpr std::array<const char*, kFigureColours> kPaperColours = {
    "#d55e00", "#0072b2", "#009e73", "#cc79a7", "#56b4e9", "#4a4f59",
    "#b5a800", "#e69f00", "#6a3d9a", "#7f3b08", "#a6d96a", "#e31a8c"};

std::string Coordinate(double value) {
  const double tenths = std::round(value * 10) / 10;
  return tenths == std::trunc(tenths) ? fmt::format("{:.0f}", tenths + 0.0)
                                      : fmt::format("{:.1f}", tenths);
}

double Stretched(AxisScale scale, double value) {
  if (scale == AxisScale::kLog) return std::log(std::max(value, 1e-12));
  return scale == AxisScale::kFromZero ? std::asinh(value) : value;
}

double PlaceOn(const FigureAxis& axis, double value, double from, double to) {
  const double low = Stretched(axis.scale, axis.low);
  const double high = Stretched(axis.scale, axis.high);
  const double span = high > low ? high - low : 1;
  return from + (Stretched(axis.scale, value) - low) / span * (to - from);
}

struct Area {
  double left, top, right, bottom;
};

// A path of absolute moves and short relative lines, in tenths of a pixel.
class PathText {
 public:
  void Move(double x, double y) {
    x_ = Tenths(x);
    y_ = Tenths(y);
    text_ += 'M';
    Put(x_);
    text_ += ' ';
    Put(y_);
  }
  void Line(double x, double y) {
    const long dx = Tenths(x) - x_;
    const long dy = Tenths(y) - y_;
    if (dx == 0 && dy == 0) return;
    if (dy == 0) {
      text_ += 'h';
      Put(dx);
    } else if (dx == 0) {
      text_ += 'v';
      Put(dy);
    } else {
      text_ += 'l';
      Put(dx);
      if (dy >= 0) text_ += ' ';
      Put(dy);
    }
    x_ += dx;
    y_ += dy;
  }
  void Close() { text_ += 'z'; }
  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }

 private:
  static long Tenths(double value) { return std::lround(value * 10); }
  void Put(long tenths) {
    if (tenths < 0) text_ += '-';
    const long size = std::abs(tenths);
    if (size >= 10 || size == 0) text_ += std::to_string(size / 10);
    if (size % 10 != 0) text_ += "." + std::to_string(size % 10);
  }
  std::string text_;
  long x_ = 0;
  long y_ = 0;
};

class Drawing {
 public:
  Drawing(const Figure& figure, const FigureLook& look) : figure_(figure), look_(look) {}

  std::string Draw() {
    Legend();
    const double gap = 28;
    const auto columns = static_cast<std::size_t>(
        std::clamp(std::floor((look_.width + gap) / (figure_.panel_width + gap)), 1.0,
                   static_cast<double>(figure_.panels.size())));
    const double width =
        (look_.width - gap * static_cast<double>(columns - 1)) / static_cast<double>(columns);
    double bottom = y_;
    for (std::size_t i = 0; i < figure_.panels.size(); ++i) {
      if (i % columns == 0 && i > 0) y_ = bottom;
      const double x = static_cast<double>(i % columns) * (width + gap);
      bottom = std::max(bottom, DrawPanel(i, x, y_, width));
    }
    const double height = std::ceil(bottom);
    std::string size = fmt::format("width=\"{}\" height=\"{}\"", look_.width, height);
    std::string style;
    if (look_.standalone) {
      const double inches = kColumnInches / kColumnPixels;
      size = fmt::format("width=\"{:.3f}in\" height=\"{:.3f}in\"", look_.width * inches,
                         height * inches);
      style = "<style>\n" + PaperStyle() + "</style>\n";
    }
    return fmt::format(
        "<svg{} class=\"figure\" viewBox=\"0 0 {} {}\" {} "
        "role=\"img\" aria-label=\"{}\">\n{}{}</svg>\n",
        look_.standalone ? " xmlns=\"http://www.w3.org/2000/svg\"" : "", look_.width, height, size,
        EscapeHtml(figure_.title), style, svg_);
  }

 private:
  template <typename... Args>
  void Add(fmt::format_string<Args...> text, Args&&... args) {
    fmt::format_to(std::back_inserter(svg_), text, std::forward<Args>(args)...);
  }

  void Text(double x, double y, std::string_view text, char anchor = 's',
            std::string_view name = "") {
    Add("<text{}{}{} x=\"{}\" y=\"{}\"{}>{}</text>", name.empty() ? "" : " class=\"", name,
        name.empty() ? "" : "\"", Coordinate(x), Coordinate(y),
        anchor == 's'   ? ""
        : anchor == 'm' ? " text-anchor=\"middle\""
                        : " text-anchor=\"end\"",
        EscapeHtml(text));
  }

  void Line(std::string_view name, double x1, double y1, double x2, double y2) {
    PathText path;
    path.Move(x1, y1);
    path.Line(x2, y2);
    Add("<path class=\"{}\" d=\"{}\"/>", name, path.text());
  }

  static std::string DashOf(const FigureSeries& series) {
    const char* dash = kDashes[static_cast<std::size_t>(series.dash) % kDashes.size()];
    return *dash == 0 ? std::string() : fmt::format(" stroke-dasharray=\"{}\"", dash);
  }

  void Legend() {
    if (!figure_.legend) return;
    std::vector<const FigureSeries*> shown;
    for (const FigurePanel& panel : figure_.panels) {
      for (const FigureSeries& series : panel.series) {
        const bool known = std::any_of(shown.begin(), shown.end(), [&](const FigureSeries* other) {
          return other->name == series.name;
        });
        if (!known && !series.name.empty()) shown.push_back(&series);
      }
    }
    if (shown.size() < 2) return;
    double x = 0;
    y_ += 14;
    for (const FigureSeries* series : shown) {
      const std::string name = FittedText(series->name, kTextSize, look_.width - 34);
      const double width = 30 + TextWidth(name, kTextSize);
      if (x > 0 && x + width > look_.width) {
        x = 0;
        y_ += kLegendRow;
      }
      Add("<g data-name=\"{}\">", EscapeHtml(series->name));
      if (series->mark == FigureSeries::Mark::kDots) {
        Add("<circle class=\"mean c{}\" cx=\"{}\" cy=\"{}\" r=\"5\"/>", series->colour,
            Coordinate(x + 11), Coordinate(y_ - 4));
      } else {
        Add("<path class=\"curve c{}{}\"{} d=\"M{} {}h20\"/>", series->colour,
            series->strong ? " heavy" : "", DashOf(*series), Coordinate(x + 1), Coordinate(y_ - 4));
      }
      Text(x + 27, y_, name);
      svg_ += "</g>\n";
      x += width + 18;
    }
    y_ += 8;
  }

  // Returns where it ends.
  double DrawPanel(std::size_t index, double x, double y, double width) {
    const FigurePanel& panel = figure_.panels[index];
    if (!panel.name.empty()) {
      y += 16;
      const double note = TextWidth(panel.note, kTextSize);
      Text(x, y, FittedText(panel.name, kTextSize, width - note - 12), 's', "strong");
      if (!panel.note.empty()) Text(x + width, y, panel.note, 'e');
    } else if (!panel.y.label.empty()) {
      y += 16;
      Text(x, y, FittedText(panel.y.label, kTextSize, width));
    }
    const double inner = figure_.height;
    const auto y_ticks = AxisTicks(panel.y, std::max(2, static_cast<int>(inner / 52)));
    double margin = 0;
    for (const auto& [place, text] : y_ticks) {
      margin = std::max(margin, TextWidth(text, kTextSize));
    }
    margin = std::min(margin, width * 0.4) + 9;
    const Area area = {x + margin, y + 10, x + width - 8, y + 10 + inner};
    Add("<g class=\"panel\" data-name=\"{}\" data-panel=\"{}\" data-area=\"{} {} {} {}\" "
        "data-x=\"{} {:.9g} {:.9g} {}\" data-y=\"{} {:.9g} {:.9g} {}\"{}{}>\n",
        EscapeHtml(panel.name), index, Coordinate(area.left), Coordinate(area.top),
        Coordinate(area.right), Coordinate(area.bottom), ScaleName(panel.x.scale), panel.x.low,
        panel.x.high, UnitName(panel.x), ScaleName(panel.y.scale), panel.y.low, panel.y.high,
        UnitName(panel.y), RowsAttribute(panel), StepsAttribute(panel));
    for (const auto& [place, text] : y_ticks) {
      const double at = PlaceY(panel, place, area);
      if (panel.boxes.empty()) Line("grid", area.left, at, area.right, at);
      Text(area.left - 7, at + 4, FittedText(text, kTextSize, width * 0.4), 'e',
           panel.y.rows.empty() ? "" : "strong");
    }
    if (figure_.zoom) {
      Add("<svg class=\"inner\" x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" "
          "viewBox=\"{0} {1} {2} {3}\" preserveAspectRatio=\"none\">\n",
          Coordinate(area.left), Coordinate(area.top), Coordinate(area.right - area.left),
          Coordinate(area.bottom - area.top));
    }
    Boxes(panel, area);
    if (panel.line && panel.y.rows.empty()) {
      const double at = PlaceY(panel, *panel.line, area);
      Line("rule", area.left, at, area.right, at);
      Text(area.right, at - 5, panel.line_label, 'e');
    } else if (panel.line) {
      const double at = PlaceOn(panel.x, *panel.line, area.left, area.right);
      Line("rule", at, area.top, at, area.bottom);
    }
    for (const bool strong : {false, true}) {
      for (const FigureSeries& series : panel.series) {
        if (series.strong == strong) Draw(panel, series, area);
      }
    }
    if (figure_.zoom) svg_ += "</svg>\n";
    XAxis(panel, area);
    svg_ += "</g>\n";
    return area.bottom + (panel.x.label.empty() ? kPanelGap : kPanelGap + 18);
  }

  void XAxis(const FigurePanel& panel, const Area& area) {
    Line("axis", area.left, area.bottom, area.right, area.bottom);
    const double width = area.right - area.left;
    auto ticks = AxisTicks(panel.x, std::max(2, static_cast<int>(width / 70)));
    // Labels that would touch are left out.
    double used = -kNever;
    svg_ += "<g class=\"ticks\">";
    for (const auto& [place, text] : ticks) {
      const double at = PlaceOn(panel.x, place, area.left, area.right);
      Line("axis", at, area.bottom, at, area.bottom + 4);
      const double half = TextWidth(text, kTextSize) / 2;
      if (at - half < used + 6) continue;
      if (at - half < 0 || at + half > look_.width) {
        const bool right = at + half > look_.width;
        Text(right ? look_.width : 0, area.bottom + 18, text, right ? 'e' : 's');
      } else {
        Text(at, area.bottom + 18, text, 'm');
      }
      used = at + half;
    }
    svg_ += "</g>";
    if (!panel.x.label.empty()) {
      const std::string label = FittedText(panel.x.label, kTextSize, look_.width);
      const bool long_label = TextWidth(label, kTextSize) > width;
      Text(long_label ? std::max(area.right, TextWidth(label, kTextSize)) : area.right,
           area.bottom + 36, label, 'e');
    }
    svg_ += '\n';
  }

  static double PlaceY(const FigurePanel& panel, double value, const Area& area) {
    if (panel.y.rows.empty()) return PlaceOn(panel.y, value, area.bottom, area.top);
    return area.top + value / static_cast<double>(panel.y.rows.size()) * (area.bottom - area.top);
  }

  // One path for each colour and shade. Narrow boxes have no edge: it would cover them.
  void Boxes(const FigurePanel& panel, const Area& area) {
    std::map<std::pair<int, int>, PathText> paths;
    PathText edges;
    const double pad = panel.y.rows.empty() || panel.boxes.empty() ? 0 : 0.08;
    for (const FigureBox& box : panel.boxes) {
      const int shade = std::clamp(static_cast<int>(std::lround(box.shade * kShades)), 0, kShades);
      const double x0 = PlaceOn(panel.x, std::max(box.x0, panel.x.low), area.left, area.right);
      const double x1 = PlaceOn(panel.x, std::min(box.x1, panel.x.high), area.left, area.right);
      if (shade == 0 || x1 <= x0) continue;
      const double y0 = PlaceY(panel, box.y0 + pad, area);
      const double y1 = PlaceY(panel, box.y1 - pad, area);
      PathText& path = paths[{box.colour, shade}];
      path.Move(x0, y0);
      path.Line(std::max(x1, x0 + 0.3), y0);
      path.Line(std::max(x1, x0 + 0.3), y1);
      path.Line(x0, y1);
      path.Close();
      if (box.edge && x1 - x0 > 3) {  // pixels
        edges.Move(x0, y0);
        edges.Line(x0, y1);
      }
    }
    for (const auto& [key, path] : paths) {
      Add("<path class=\"box c{}\" fill-opacity=\"{:g}\" d=\"{}\"/>\n", key.first,
          static_cast<double>(key.second) / kShades, path.text());
    }
    if (!edges.empty()) Add("<path class=\"edge\" d=\"{}\"/>\n", edges.text());
  }

  void Draw(const FigurePanel& panel, const FigureSeries& series, const Area& area) {
    using Mark = FigureSeries::Mark;
    Add("<g class=\"series c{}\" data-name=\"{}\">", series.colour, EscapeHtml(series.name));
    if (series.mark == Mark::kDots) {
      Dots(panel, series, area);
    } else {
      const std::string path = CurveOf(panel, series, area, series.mark == Mark::kArea);
      if (series.mark == Mark::kArea) Add("<path class=\"area\" d=\"{}\"/>", path);
      Add("<path class=\"curve{}\"{} d=\"{}\"/>", series.strong ? " heavy" : "", DashOf(series),
          series.mark == Mark::kArea ? CurveOf(panel, series, area, false) : path);
      for (const FigurePoint& point : series.points) {
        if (!std::isfinite(point.low)) continue;
        const double at = PlaceOn(panel.x, point.x, area.left, area.right);
        Line("interval", at, PlaceY(panel, std::max(point.low, panel.y.low), area), at,
             PlaceY(panel, std::min(point.high, panel.y.high), area));
      }
    }
    svg_ += "</g>\n";
  }

  void Dots(const FigurePanel& panel, const FigureSeries& series, const Area& area) {
    for (const FigurePoint& point : series.points) {
      if (!std::isfinite(point.x) || !std::isfinite(point.y)) continue;
      const double x = PlaceOn(panel.x, point.x, area.left, area.right);
      const double y = PlaceY(panel, point.y, area);
      if (std::isfinite(point.low)) {
        const double x0 = PlaceOn(panel.x, std::max(point.low, panel.x.low), area.left, area.right);
        const double x1 =
            PlaceOn(panel.x, std::min(point.high, panel.x.high), area.left, area.right);
        Line("interval", x0, y, x1, y);
        Line("interval", x0, y - 5, x0, y + 5);
        Line("interval", x1, y - 5, x1, y + 5);
      }
      Add("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>", series.strong ? "mean" : "dot",
          Coordinate(x), Coordinate(y), series.strong ? "5" : "3.5");
    }
  }

  static std::string CurveOf(const FigurePanel& panel, const FigureSeries& series, const Area& area,
                             bool closed) {
    PathText path;
    bool down = false;
    double last_x = 0;
    double last_y = 0;
    const auto end = [&] {
      if (!down || !closed) return;
      path.Line(last_x, area.bottom);
      path.Close();
    };
    for (const FigurePoint& point : series.points) {
      if (!std::isfinite(point.x) || !std::isfinite(point.y)) {
        end();
        down = false;
        continue;
      }
      const double x = PlaceOn(panel.x, point.x, area.left, area.right);
      const double y = PlaceY(panel, std::clamp(point.y, panel.y.low, panel.y.high), area);
      if (!down) {
        path.Move(x, closed ? area.bottom : y);
        if (closed) path.Line(x, y);
      } else {
        if (series.mark == FigureSeries::Mark::kSteps) path.Line(x, last_y);
        path.Line(x, y);
      }
      down = true;
      last_x = x;
      last_y = y;
    }
    end();
    return path.text();
  }

  static std::string RowsAttribute(const FigurePanel& panel) {
    if (panel.y.rows.empty()) return "";
    return fmt::format(" data-rows=\"{}\"", EscapeHtml(Join(panel.y.rows, "\n")));
  }
  static const char* StepsAttribute(const FigurePanel& panel) {
    const bool steps = std::any_of(panel.series.begin(), panel.series.end(), [](const auto& s) {
      return s.mark == FigureSeries::Mark::kSteps;
    });
    return steps ? " data-steps=\"1\"" : "";
  }
  static const char* ScaleName(AxisScale scale) {
    return scale == AxisScale::kLog ? "log" : scale == AxisScale::kFromZero ? "asinh" : "linear";
  }
  static const char* UnitName(const FigureAxis& axis) {
    if (!axis.rows.empty()) return "row";
    return axis.unit == AxisUnit::kSeconds ? "s" : axis.unit == AxisUnit::kShare ? "share" : "1";
  }

  const Figure& figure_;
  const FigureLook& look_;
  std::string svg_;
  double y_ = 0;
};

}  // namespace

std::string FigureSvg(const Figure& figure, const FigureLook& look) {
  return Drawing(figure, look).Draw();
}

std::string PaperStyle() {
  std::string style(kFigureStyle);
  const auto set = [&style](const std::string& name, std::string_view value) {
    const std::string variable = fmt::format("var({})", name);
    for (std::size_t at = style.find(variable); at != std::string::npos;
         at = style.find(variable, at)) {
      style.replace(at, variable.size(), value);
    }
  };
  for (const auto& [name, value] : kPaperTones) set(name, value);
  for (std::size_t i = 0; i < kPaperColours.size(); ++i) {
    set(fmt::format("--c{}", i), kPaperColours[i]);
  }
  return style;
}

}  // namespace allot
