#include "report/report_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "metrics/html.h"
#include "metrics/run_directory.h"
#include "report/figure_svg.h"

namespace allot {
namespace {

constexpr double kWidePixels = 1116;
constexpr double kHalfPixels = 538;

std::string DrawnTwice(const Figure& figure) {
  const double wide = figure.wide ? kWidePixels : kHalfPixels;
  return "<div class=\"at-wide\">" + FigureSvg(figure, {.width = wide}) +
         "</div><div class=\"at-narrow\">" + FigureSvg(figure, {}) + "</div>";
}

std::string Tools(bool zoom) {
  std::string html =
      "<p class=\"tools\"><button type=\"button\" data-save=\"svg\">SVG</button>"
      "<button type=\"button\" data-save=\"csv\">CSV</button>";
  if (zoom) {
    html +=
        "<button type=\"button\" data-zoom=\"0.5\" aria-label=\"Zoom in\">+</button>"
        "<button type=\"button\" data-zoom=\"2\" aria-label=\"Zoom out\">−</button>"
        "<button type=\"button\" data-zoom=\"0\">all</button>"
        "<span class=\"hint\">drag to zoom</span>";
  }
  return html + "</p>\n";
}

}  // namespace

std::string FigureFileName(const Figure& figure, std::size_t number) {
  if (figure.choice_kind == kPolicyChoice) {
    return fmt::format("{}-{}", figure.id, FolderName(figure.choice));
  }
  return number == 0 ? figure.id : fmt::format("{}-{}", figure.id, number + 1);
}

std::string FiguresHtml(const std::vector<Figure>& figures, const std::string& section,
                        nlohmann::ordered_json* data) {
  std::string html = "<div class=\"figures\">\n";
  for (auto first = figures.begin(); first != figures.end();) {
    const auto last = std::find_if(
        first, figures.end(), [first](const Figure& figure) { return figure.id != first->id; });
    html += fmt::format("<figure{}>\n<h3>{}</h3>", first->wide ? " class=\"wide\"" : "",
                        EscapeHtml(first->title));
    if (last - first > 1) {
      html += fmt::format("<label class=\"choose\">{} <select data-choose=\"{}\">",
                          EscapeHtml(first->choice_kind), EscapeHtml(first->choice_kind));
      for (auto figure = first; figure != last; ++figure) {
        html += fmt::format("<option>{}</option>", EscapeHtml(figure->choice));
      }
      html += "</select></label>";
    }
    for (auto figure = first; figure != last; ++figure) {
      const auto number = static_cast<std::size_t>(figure - first);
      const std::string key = fmt::format("{}-{}", section, FigureFileName(*figure, number));
      html += fmt::format(
          "<div class=\"choice\"{}><figcaption>{}</figcaption>\n<div class=\"plot\" "
          "data-figure=\"{}\">{}</div></div>\n",
          number > 0 ? " hidden" : "", EscapeHtml(figure->caption), EscapeHtml(key),
          DrawnTwice(*figure));
      (*data)[key] = {{"name", FigureFileName(*figure, number)}, {"csv", FigureCsv(*figure)}};
    }
    html += Tools(first->zoom) + "</figure>\n";
    first = last;
  }
  return html + "</div>\n";
}

}  // namespace allot
