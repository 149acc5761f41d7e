#include "metrics/report_lengths.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/file.h"
#include "metrics/html.h"
#include "metrics/humanise.h"
#include "workload/csv.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFile = "lengths.csv";

template <typename T>
T& Named(std::vector<T>* list, std::string T::*name, std::string_view value) {
  const auto at =
      std::find_if(list->begin(), list->end(), [&](const T& one) { return one.*name == value; });
  if (at != list->end()) return *at;
  list->emplace_back();
  list->back().*name = value;
  return list->back();
}

std::string Table(const LengthCurves& curves) {
  std::string html =
      "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">GPUs</th>"
      "<th scope=\"col\">questions</th>";
  for (const double level : curves.by_size.front().nominal) {
    html += "<th scope=\"col\">" + HumanShare(level) + "</th>";
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const LengthCurve& curve : curves.by_size) {
    fmt::format_to(std::back_inserter(html), "<tr><th scope=\"row\">{}</th><td>{}</td>",
                   EscapeHtml(curve.gpus), HumanCount(curve.questions));
    for (const double share : curve.covered) html += "<td>" + HumanShare(share) + "</td>";
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

}  // namespace

bool HoldsLengths(const std::filesystem::path& directory) {
  return std::filesystem::exists(directory / kFile);
}

std::vector<LengthCurves> ReadLengths(const std::filesystem::path& directory) {
  const std::string path = (directory / kFile).string();
  const std::string text = ReadTextFile(path);
  CsvReader csv(text, path, {"asked", "gpus", "nominal", "covered", "questions"}, {});
  std::vector<LengthCurves> all;
  while (csv.Next()) {
    csv.CheckRow();
    const double nominal = csv.Number("nominal");
    const double covered = csv.Number("covered");
    const auto is_share = [](double value) { return value >= 0 && value <= 1; };
    if (!is_share(nominal) || !is_share(covered)) {
      throw DataError("{}: shares must be from 0 to 1, got nominal {} and covered {}", csv.place(),
                      nominal, covered);
    }
    LengthCurves& asked = Named(&all, &LengthCurves::asked, csv.Text("asked"));
    LengthCurve& curve = Named(&asked.by_size, &LengthCurve::gpus, csv.Text("gpus"));
    curve.questions = csv.Integer("questions", 1, std::int64_t{1} << 53);
    curve.nominal.push_back(nominal);
    curve.covered.push_back(covered);
  }
  return all;
}

std::string LengthSection(const std::vector<LengthCurves>& curves, std::size_t index) {
  std::string html = fmt::format(
      "<section aria-labelledby=\"lengths-{0}\">\n<h2 id=\"lengths-{0}\">Forecasts of "
      "lengths</h2>\n<p class=\"note\">Of the jobs, the share that took no longer than the "
      "length model's quantile. The column of 90 % should hold 90 %.</p>\n",
      index);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const std::string when =
        curves[i].asked == "new" ? "When jobs come" : "Jobs " + EscapeHtml(curves[i].asked);
    html += fmt::format(
        "<figure><h3>{0}</h3><figcaption>Covered share against the nominal one. Above the "
        "diagonal, jobs are shorter than foretold.</figcaption>\n"
        "<div class=\"plot\" data-chart=\"lengths\" data-index=\"{1}\" role=\"img\" "
        "aria-label=\"{0}: covered against nominal share of quantiles, by number of "
        "GPUs\"></div>\n</figure>\n",
        when, index + i);
    html += Table(curves[i]);
  }
  return html + "</section>\n";
}

Json LengthChartData(const LengthCurves& curves) {
  Json series = Json::array();
  for (const LengthCurve& curve : curves.by_size) {
    Json points = Json::array({{0, 0}});
    for (std::size_t i = 0; i < curve.nominal.size(); ++i) {
      points.push_back({curve.nominal[i], curve.covered[i]});
    }
    points.push_back({1, 1});
    series.push_back({{"name", curve.gpus == "all" ? curve.gpus : curve.gpus + " GPUs"},
                      {"colour", static_cast<int>(series.size())},
                      {"dash", 0},
                      {"reference", curve.gpus == "all"},
                      {"points", std::move(points)}});
  }
  return {{"series", std::move(series)}};
}

}  // namespace allot
