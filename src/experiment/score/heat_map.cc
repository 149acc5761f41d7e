#include "experiment/score/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "metrics/html.h"

namespace allot {
namespace {

// Pixels.
constexpr double kNames = 110;
constexpr double kTitles = 92;
constexpr double kCellWidth = 46;
constexpr double kCellHeight = 21;

constexpr double kStrongest = 1.5;  // this ratio, or its inverse, has the full colour

// Of Okabe and Ito's palette, mixed with white.
std::string ColourOf(double strength) {
  constexpr int kBlue[] = {0, 114, 178};
  constexpr int kVermilion[] = {213, 94, 0};
  const auto& colour = strength < 0 ? kBlue : kVermilion;
  const auto mixed = [&](int part) {
    return static_cast<int>(std::lround(255 + (part - 255) * std::abs(strength)));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mixed(colour[0]), mixed(colour[1]), mixed(colour[2]));
}

}  // namespace

std::string HeatMapSvg(const HeatMap& map) {
  ALLOT_CHECK_EQ(map.ratios.size(), map.rows.size() * map.columns.size());
  const double width = kNames + kCellWidth * static_cast<double>(map.columns.size()) + 30;
  const double height = kTitles + kCellHeight * static_cast<double>(map.rows.size()) + 8;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" "
      "height=\"{1:g}\" font-family=\"DejaVu Sans, sans-serif\" font-size=\"11\">\n"
      "<title>Mean JCT over that of the best published rule, by policy and task</title>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
      width, height);
  for (std::size_t c = 0; c < map.columns.size(); ++c) {
    svg += fmt::format(
        "<text transform=\"translate({:g} {:g}) rotate(-45)\" fill=\"#1b1d21\">{}</text>\n",
        kNames + kCellWidth * (static_cast<double>(c) + 0.5), kTitles - 6,
        EscapeHtml(map.columns[c]));
  }
  for (std::size_t r = 0; r < map.rows.size(); ++r) {
    const double top = kTitles + kCellHeight * static_cast<double>(r);
    svg +=
        fmt::format("<text x=\"{:g}\" y=\"{:g}\" text-anchor=\"end\" fill=\"#1b1d21\">{}</text>\n",
                    kNames - 7, top + 15, EscapeHtml(map.rows[r]));
    for (std::size_t c = 0; c < map.columns.size(); ++c) {
      const double ratio = map.ratios[r * map.columns.size() + c];
      const double strength = std::clamp(std::log(ratio) / std::log(kStrongest), -1.0, 1.0);
      const double left = kNames + kCellWidth * static_cast<double>(c);
      svg += fmt::format(
          "<rect x=\"{:g}\" y=\"{:g}\" width=\"{:g}\" height=\"{:g}\" fill=\"{}\"/>"
          "<text x=\"{:g}\" y=\"{:g}\" text-anchor=\"middle\" fill=\"{}\">{:.2f}</text>\n",
          left + 1, top + 1, kCellWidth - 2, kCellHeight - 2, ColourOf(strength),
          left + kCellWidth / 2, top + 15, std::abs(strength) > 0.6 ? "#ffffff" : "#1b1d21", ratio);
    }
  }
  return svg + "</svg>\n";
}

}  // namespace allot
