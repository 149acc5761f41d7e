#include "report/report_lengths.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/error.h"
#include "core/file.h"
#include "metrics/html.h"
#include "metrics/humanise.h"
#include "table/csv.h"

namespace allot {
namespace {

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

}  // namespace

std::string LengthTable(const LengthCurves& curves) {
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

}  // namespace allot
