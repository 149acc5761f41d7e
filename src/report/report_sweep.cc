#include "report/report_sweep.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "core/strings.h"
#include "metrics/curves.h"
#include "metrics/html.h"
#include "metrics/humanise.h"
#include "metrics/json_field.h"
#include "metrics/sweep_table.h"
#include "report/figure.h"

namespace allot {
namespace {

bool Numeric(const SweepResults& results, std::size_t factor) {
  return std::all_of(results.cells.begin(), results.cells.end(), [factor](const SweepCell& cell) {
    return ParseNumber(cell.values[factor]).has_value();
  });
}

// What the curves run along.
std::optional<std::size_t> Along(const SweepResults& results) {
  for (const std::size_t f : TellingFactors(results)) {
    if (results.factors[f] != kPolicyFactor && Numeric(results, f)) return f;
  }
  return std::nullopt;
}

std::string Interval(const PairedRatio& value, std::string (*show)(double)) {
  std::string text = show(value.mean);
  if (value.has_interval() && std::isfinite(value.low)) {
    text += fmt::format(" <small>[{}, {}]</small>", show(value.low), show(value.high));
  }
  return text;
}

std::string Ratio(double value) { return HumanFixed(value, 3); }

std::string Table(const SweepResults& results, const std::vector<SweepRow>& rows) {
  const std::vector<std::size_t> telling = TellingFactors(results);
  std::string html = "<div class=\"scroll\"><table class=\"main\">\n<thead><tr>";
  for (const std::size_t f : telling) {
    html += "<th scope=\"col\">" + EscapeHtml(results.factors[f]) + "</th>";
  }
  html += "<th scope=\"col\">average JCT</th><th scope=\"col\">reference ÷ row</th>";
  for (const char* title : {"p50 JCT", "p95 JCT", "p99 JCT", "queueing", "makespan", "GPU use",
                            "fairness", "unfinished"}) {
    html += fmt::format("<th scope=\"col\" class=\"more\">{}</th>", title);
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const SweepRow& row : rows) {
    html += row.reference ? "<tr class=\"reference\">" : "<tr>";
    for (const std::size_t f : telling) {
      const bool tagged = row.oracle && results.factors[f] == kPolicyFactor;
      html += fmt::format("<th scope=\"row\">{}{}</th>", EscapeHtml(row.values[f]),
                          tagged ? "<span class=\"tag\">oracle</span>" : "");
    }
    fmt::format_to(std::back_inserter(html), "<td>{}</td><td>{}</td>",
                   Interval(row.avg_jct_s, HumanDuration),
                   row.reference ? "1" : Interval(row.ratio, Ratio));
    for (const std::string& cell :
         {HumanDuration(row.p50_jct_s.mean), HumanDuration(row.p95_jct_s.mean),
          HumanDuration(row.p99_jct_s.mean), HumanDuration(row.avg_queueing_s.mean),
          HumanDuration(row.makespan_s.mean), HumanShare(row.gpu_utilisation.mean),
          HumanFixed(row.avg_fairness.mean, 2), HumanCount(row.unfinished)}) {
      html += "<td class=\"more\">" + cell + "</td>";
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

// Rows with distributions to draw: all, or of those that the curves run along the ones at the
// highest value that the most curves reach.
std::vector<const SweepRow*> Distributed(const SweepResults& results,
                                         const std::vector<SweepRow>& rows) {
  std::vector<const SweepRow*> all;
  for (const SweepRow& row : rows) {
    if (!row.jct_quantiles_s.empty()) all.push_back(&row);
  }
  const auto along = Along(results);
  if (!along) return all;
  std::map<double, std::vector<const SweepRow*>> at;
  for (const SweepRow* row : all) at[*ParseNumber(row->values[*along])].push_back(row);
  std::vector<const SweepRow*> best;
  for (const auto& [value, there] : at) {
    if (there.size() >= best.size()) best = there;
  }
  return best;
}

}  // namespace

std::string SweepOpening(const SweepResults& results, std::size_t index) {
  const std::vector<SweepRow> rows = Aggregate(results);
  std::string html =
      fmt::format("<section aria-labelledby=\"sweep-{0}\">\n<h2 id=\"sweep-{0}\">{1}</h2>\n", index,
                  results.title.empty() ? "Sweep" : EscapeHtml(results.title));
  int seeds = 0;
  for (const SweepRow& row : rows) seeds = std::max(seeds, row.seeds);
  html += fmt::format(
      "<p class=\"note\">{} cells. {} Ratios are of {}: below 1, it is faster{}.</p>\n",
      HumanCount(static_cast<std::int64_t>(results.cells.size())),
      seeds > 1
          ? fmt::format("Means over {} seeds with 95 % intervals (Student's t on the logarithm).",
                        seeds)
          : "One seed, hence no intervals.",
      EscapeHtml(ReferenceText(results)), seeds > 1 ? "; they are paired by seed" : "");
  for (const std::string& note : results.notes) {
    html += "<p class=\"note\">" + EscapeHtml(note) + "</p>\n";
  }
  return html + Table(results, rows);
}

SweepCurves CurvesOf(const SweepResults& results, const std::vector<SweepRow>& rows) {
  SweepCurves curves;
  const auto along = Along(results);
  if (along) curves.along = results.factors[*along];
  const std::vector<std::size_t> telling = TellingFactors(results);
  std::vector<std::vector<std::string>> order;
  const std::vector<const SweepRow*> distributed = Distributed(results, rows);
  if (along && !distributed.empty()) curves.distributed_at = distributed.front()->values[*along];
  for (const SweepRow& row : rows) {
    std::vector<std::string> others;
    for (const std::size_t f : telling) {
      if (f != along) others.push_back(row.values[f]);
    }
    auto at = std::find(order.begin(), order.end(), others);
    if (at == order.end()) {
      const auto number = static_cast<int>(order.size());
      at = order.insert(order.end(), others);
      curves.curves.push_back({.name = Join(others, " · "),
                               .colour = number % kFigureColours,
                               .dash = number / kFigureColours});
    }
    SweepCurve& curve = curves.curves[static_cast<std::size_t>(at - order.begin())];
    if (std::find(distributed.begin(), distributed.end(), &row) != distributed.end())
      curve.distribution = &row;
    if (along) curve.points.emplace_back(*ParseNumber(row.values[*along]), &row);
  }
  for (SweepCurve& curve : curves.curves) {
    std::stable_sort(curve.points.begin(), curve.points.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
  }
  return curves;
}

}  // namespace allot
