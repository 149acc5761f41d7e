#include "report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/counted.h"
#include "core/error.h"
#include "core/file.h"
#include "metrics/comparison.h"
#include "metrics/evaluation.h"
#include "metrics/evaluation_notes.h"
#include "metrics/html.h"
#include "metrics/humanise.h"
#include "metrics/json_field.h"
#include "metrics/service_table.h"
#include "metrics/type_table.h"
#include "report/evaluation_runs.h"
#include "report/figure_svg.h"
#include "report/report_assets.h"
#include "report/report_figures.h"
#include "report/report_lengths.h"
#include "report/report_repeat.h"
#include "report/report_sweep.h"
#include "report/training_curves.h"

namespace allot {
namespace {

// What a reader may open; on paper it stays closed.
std::string Folded(std::string_view summary, const std::string& html) {
  return fmt::format("<details class=\"behind\">\n<summary>{}</summary>\n{}</details>\n", summary,
                     html);
}

std::string Facts(const Evaluation& evaluation) {
  std::int64_t jobs = 0;
  double load = 0;
  for (const EvaluatedWorkload& workload : evaluation.workloads) {
    jobs += workload.jobs;
    load += workload.load / static_cast<double>(evaluation.workloads.size());
  }
  std::string html = "<dl class=\"facts\">\n";
  const GpuCount gpus = evaluation.policies.front().runs.front().gpus;
  html += HtmlFact("Cluster", gpus > 0
                                  ? fmt::format("{} ({})", evaluation.cluster, Counted(gpus, "GPU"))
                                  : evaluation.cluster);
  html += HtmlFact("Workloads", WorkloadsInWords(evaluation));
  html += HtmlFact("Jobs", HumanCount(jobs));
  if (std::isfinite(load)) html += HtmlFact("Mean load", HumanFixed(load, 2));
  html += HtmlFact("Length estimates", LengthEstimatesInWords(evaluation.length_estimates));
  html += HtmlFact("Rates as policies see them", evaluation.beliefs);
  if (evaluation.progress != "constant") html += HtmlFact("True rates", evaluation.progress);
  html += HtmlFact("Restart cost", HumanDuration(evaluation.restart_cost_s));
  if (evaluation.launch_cost_s > 0) {
    html += HtmlFact("Launch cost", HumanDuration(evaluation.launch_cost_s));
  }
  html += HtmlFact("Decisions", DecisionsInWords(evaluation));
  return html + "</dl>\n";
}

std::string_view RatioClass(const PolicyRow& row) {
  if (row.reference || row.ratio.side() == PairedRatio::Side::kOpen) return "";
  return row.ratio.side() == PairedRatio::Side::kBelow ? "yes" : "no";
}

std::string PolicyTable(const EvaluationRuns& runs, std::string_view reference) {
  const Evaluation& evaluation = runs.evaluation;
  std::string html = fmt::format(
      "<div class=\"scroll\"><table class=\"main\">\n<caption>Policies, fastest first; means over "
      "{} workload{}.</caption>\n"
      "<thead><tr><th scope=\"col\">policy</th><th scope=\"col\">average JCT</th>"
      "<th scope=\"col\">{} ÷ policy<br>[95 % interval]</th>",
      evaluation.workloads.size(), evaluation.workloads.size() == 1 ? "" : "s",
      FitsTitle(reference) ? EscapeHtml(reference) : "reference");
  for (const char* title :
       {"p50 JCT", "p95 JCT", "p99 JCT", "queueing", "GPU use<br>arrivals / all",
        "restarts<br>per job", "decision<br>p50 / p99"}) {
    html += fmt::format("<th scope=\"col\" class=\"more\">{}</th>", title);
  }
  html += "</tr></thead>\n<tbody>\n";
  std::vector<std::size_t> order(runs.rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&runs](std::size_t a, std::size_t b) {
    return Faster(runs.rows[a], runs.rows[b]);
  });
  for (const std::size_t r : order) {
    const PolicyRow& row = runs.rows[r];
    const PolicyStyle style = runs.styles[r];
    const auto duration = [](double seconds, std::string_view kind = "more") {
      return fmt::format("<td class=\"{}\" title=\"{} s\">{}</td>", kind, HumanFixed(seconds, 1),
                         HumanDuration(seconds));
    };
    std::string ratio = "1";
    if (!row.reference) {
      ratio = fmt::format("<span class=\"{}\">{}</span>", RatioClass(row),
                          HumanFixed(row.ratio.mean, 3));
      if (row.ratio.has_interval() && std::isfinite(row.ratio.low)) {
        ratio += fmt::format(" <small>[{:.3f}, {:.3f}]</small>", row.ratio.low, row.ratio.high);
      }
    }
    fmt::format_to(
        std::back_inserter(html),
        "<tr{}><th scope=\"row\"><span class=\"swatch\" "
        "style=\"background:var(--c{})\"></span>{}{}</th>{}"
        "<td>{}</td>{}{}{}{}<td class=\"more\">{} <small>/ {}</small></td>"
        "<td class=\"more\">{}</td><td class=\"more\">{} <small>/ {}</small></td></tr>\n",
        row.reference ? " class=\"reference\"" : "", style.colour,
        EscapeHtml(evaluation.policies[row.policy].label),
        row.oracle ? "<span class=\"tag\">oracle</span>" : "", duration(row.avg_jct_s, ""), ratio,
        duration(row.p50_jct_s), duration(row.p95_jct_s), duration(row.p99_jct_s),
        duration(row.avg_queueing_s), HumanShare(runs.ArrivalsUse(r)),
        HumanShare(row.gpu_utilisation), HumanFixed(row.restarts_per_job, 2),
        HumanMicroseconds(row.decision_us_p50), HumanMicroseconds(row.decision_us_p99));
  }
  return html + "</tbody></table></div>\n";
}

std::string Notes(const Evaluation& evaluation, const std::vector<PolicyRow>& rows,
                  std::string_view reference) {
  std::string html;
  if (rows.size() > 1) {
    html += fmt::format(
        "<p class=\"note\">A ratio below 1 means that {} is faster. It is the geometric "
        "mean of the per-workload ratios of average JCT{}.</p>\n",
        EscapeHtml(reference),
        evaluation.workloads.size() > 1
            ? fmt::format(", its interval {}, on their logarithms",
                          EscapeHtml(IntervalInWords(WindowsOf(evaluation.workloads))))
            : "");
  }
  std::vector<std::string> notes = EvaluationNotes(evaluation);
  for (std::string& left_out : LeftOutNotes(evaluation.read, evaluation.cluster_read)) {
    notes.push_back(std::move(left_out));
  }
  for (const std::string& note : notes) {
    html += "<p class=\"note\">" + EscapeHtml(note) + "</p>\n";
  }
  for (const std::string& sentence : StuckInWords(evaluation, rows)) {
    html += fmt::format("<p class=\"note\">{}</p>\n", EscapeHtml(sentence));
  }
  bool oracle = false;
  for (const PolicyRow& row : rows) {
    oracle = oracle || row.oracle;
    if (row.unfinished == 0 || !row.stuck.empty()) continue;
    html += fmt::format(
        "<p class=\"note\"><b>{}</b>: {} of {} jobs unfinished; its JCT figures are over the "
        "finished ones only.</p>\n",
        EscapeHtml(row.name), HumanCount(row.unfinished), HumanCount(row.jobs));
  }
  if (oracle) {
    html +=
        "<p class=\"note\"><b>oracle</b>: uses true job lengths, which no real scheduler "
        "knows.</p>\n";
  }
  return html;
}

std::string WorkloadTable(const Evaluation& evaluation, const std::vector<PolicyRow>& rows) {
  std::string html =
      "<h3>Average JCT per workload</h3>\n<div class=\"scroll\"><table>\n"
      "<thead><tr><th scope=\"col\">workload</th><th scope=\"col\">seed</th>"
      "<th scope=\"col\">jobs</th>"
      "<th scope=\"col\">load</th>";
  for (const PolicyRow& row : rows) html += "<th scope=\"col\">" + EscapeHtml(row.name) + "</th>";
  html += "</tr></thead>\n<tbody>\n";
  for (std::size_t w = 0; w < evaluation.workloads.size(); ++w) {
    const EvaluatedWorkload& workload = evaluation.workloads[w];
    fmt::format_to(std::back_inserter(html),
                   "<tr><th scope=\"row\">{}. <small>{}</small></th><td>{}</td><td>{}</td>"
                   "<td>{}</td>",
                   w + 1, EscapeHtml(workload.name), workload.seed, HumanCount(workload.jobs),
                   HumanFixed(workload.load, 2));
    for (const PolicyRow& row : rows) {
      html += "<td>" + HumanDuration(evaluation.policies[row.policy].runs[w].avg_jct_s) + "</td>";
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

// Which policies the figures show.
std::string PolicyButtons(const EvaluationRuns& runs) {
  std::string html =
      "<div class=\"policies\" role=\"group\" aria-label=\"Policies shown in the figures\">\n";
  for (std::size_t r = 0; r < runs.rows.size(); ++r) {
    fmt::format_to(std::back_inserter(html),
                   "<button type=\"button\" aria-pressed=\"true\" data-toggle=\"{0}\"><span "
                   "class=\"swatch\" style=\"background:var(--c{1})\"></span>{0}</button>\n",
                   EscapeHtml(runs.rows[r].name), runs.styles[r].colour);
  }
  return html + "</div>\n";
}

// Cuts the list behind the first pictures: where those of the next id begin.
std::vector<Figure> TakeFirst(std::size_t pictures, std::vector<Figure>* figures) {
  auto end = figures->begin();
  for (std::size_t taken = 0; taken < pictures && end != figures->end(); ++taken) {
    end = std::find_if(end, figures->end(),
                       [id = end->id](const Figure& figure) { return figure.id != id; });
  }
  std::vector<Figure> first(std::make_move_iterator(figures->begin()),
                            std::make_move_iterator(end));
  figures->erase(figures->begin(), end);
  return first;
}

std::string EvaluationSection(const EvaluationRuns& runs, std::size_t index, Json* data) {
  constexpr std::size_t kPictures = 3;
  const Evaluation& evaluation = runs.evaluation;
  const std::vector<PolicyRow>& rows = runs.rows;
  const std::string& reference = evaluation.policies[rows.front().policy].label;
  std::string html = fmt::format(
      "<section aria-labelledby=\"evaluation-{0}\">\n<h2 id=\"evaluation-{0}\">{1}</h2>\n", index,
      evaluation.title.empty() ? "Evaluation" : EscapeHtml(evaluation.title));
  if (index > 0) {
    const Headline headline = MakeHeadline(evaluation, rows);
    html += fmt::format("<p class=\"lead\">{} {} {}</p>\n", EscapeHtml(headline.finding),
                        EscapeHtml(headline.verdict), EscapeHtml(headline.missing));
  }
  html += PolicyTable(runs, reference);
  html += Notes(evaluation, rows, reference);
  html += PolicyButtons(runs);
  std::vector<Figure> figures = FiguresOf({.evaluation = &runs});
  const std::string section = fmt::format("evaluation-{}", index);
  html += FiguresHtml(TakeFirst(kPictures, &figures), section, data);

  std::string rest = Facts(evaluation);
  rest +=
      "<p class=\"note\">GPU use: until the last submission, then of the whole run. Load is the "
      "work that comes over the time in which it comes; a run lasts until its last job ends, when "
      "most GPUs are idle. Use of the whole run can therefore be far below the load.</p>\n";
  if (HasService(evaluation)) {
    rest += "<h3>How users were served</h3>\n" + ServiceTable(evaluation, rows).ToHtml();
    if (HasTenants(evaluation)) rest += TenantTable(evaluation, rows).ToHtml();
  }
  if (HasTypes(evaluation)) {
    rest += "<h3>By GPU type</h3>\n" + TypeTable(evaluation, rows).ToHtml();
  }
  if (evaluation.workloads.size() > 1) rest += WorkloadTable(evaluation, rows);
  if (runs.drawn < evaluation.workloads.size()) {
    rest += fmt::format(
        "<p class=\"note\">Curves over time are of the first {} of {} workloads; all are in the "
        "run directories.</p>\n",
        runs.drawn, evaluation.workloads.size());
  }
  rest += FiguresHtml(figures, section, data);
  return html + Folded("The world, service to users, each workload, and more figures", rest) +
         "</section>\n";
}

// The known values of a column; none when the file lacks it.
std::vector<double> KnownNumbers(const NumberColumns& columns, std::string_view name) {
  std::vector<double> known;
  const auto found = columns.find(name);
  if (found == columns.end()) return known;
  std::copy_if(found->second.begin(), found->second.end(), std::back_inserter(known),
               [](double value) { return !std::isnan(value); });
  return known;
}

double Last(const NumberColumns& columns, std::string_view name) {
  const std::vector<double> known = KnownNumbers(columns, name);
  return known.empty() ? kUnknown : known.back();
}

double Least(const NumberColumns& columns, std::string_view name) {
  const std::vector<double> known = KnownNumbers(columns, name);
  return known.empty() ? kUnknown : *std::min_element(known.begin(), known.end());
}

std::string ImitationPart(const NumberColumns& pretrain) {
  const double held_out = Last(pretrain, "held_out_loss");
  const double agreement = Last(pretrain, "agreement");
  std::string html = "<dl class=\"facts\">\n" +
                     HtmlFact("Epochs of imitation", HumanFixed(Last(pretrain, "epoch"), 0)) +
                     HtmlFact("Final loss", HumanFixed(Last(pretrain, "loss"), 4));
  if (std::isfinite(held_out)) html += HtmlFact("Final held-out loss", HumanFixed(held_out, 4));
  if (std::isfinite(agreement))
    html += HtmlFact("Agreement with the teacher", HumanShare(agreement));
  return html + "</dl>\n";
}

std::string ReinforcementPart(const NumberColumns& curve) {
  const double episodes = Last(curve, "episodes");
  std::string html =
      "<dl class=\"facts\">\n" + HtmlFact("Iterations", HumanFixed(Last(curve, "iteration"), 0)) +
      HtmlFact("Episodes", std::isfinite(episodes) ? HumanCount(std::llround(episodes)) : "-") +
      HtmlFact("CPU time", HumanDuration(Last(curve, "cpu_s"))) +
      HtmlFact("Best validation ratio", HumanFixed(Least(curve, "validation_ratio"), 3)) +
      HtmlFact("Last validation ratio", HumanFixed(Last(curve, "validation_ratio"), 3)) + "</dl>\n";
  return html;
}

std::string TrainingSection(const TrainingCurves& curves, std::size_t index, Json* data) {
  const std::string_view stage = !curves.pretrain ? "Reinforcement learning"
                                 : curves.curve   ? "Imitation, then reinforcement learning"
                                                  : "Imitation";
  std::string html = fmt::format(
      "<section aria-labelledby=\"training-{0}\">\n<h2 id=\"training-{0}\">{1} <span "
      "class=\"tag\">{2}</span></h2>\n",
      index, stage, EscapeHtml(curves.name));
  if (curves.pretrain) html += ImitationPart(*curves.pretrain);
  if (curves.curve) html += ReinforcementPart(*curves.curve);
  html += FiguresHtml(FiguresOf({.training = &curves}), fmt::format("training-{}", index), data);
  return html + "</section>\n";
}

std::string SweepSection(const SweepResults& sweep, std::size_t index, Json* data) {
  return SweepOpening(sweep, index) +
         FiguresHtml(FiguresOf({.sweep = &sweep}), fmt::format("sweep-{}", index), data) +
         "</section>\n";
}

std::string LengthSection(const std::vector<LengthCurves>& curves, std::size_t index, Json* data) {
  std::string html = fmt::format(
      "<section aria-labelledby=\"lengths-{0}\">\n<h2 id=\"lengths-{0}\">Forecasts of "
      "lengths</h2>\n<p class=\"note\">Of the jobs, the share that took no longer than the "
      "length model's quantile. The column of 90 % should hold 90 %.</p>\n",
      index);
  for (const LengthCurves& asked : curves) {
    html += FiguresHtml(FiguresOf({.lengths = &asked}), fmt::format("lengths-{}", index), data) +
            LengthTable(asked);
  }
  return html + "</section>\n";
}

std::string JoinNonEmpty(std::initializer_list<std::string> parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

// The same folder twice would only fill the page.
void RequireDistinct(const std::vector<std::string>& folders) {
  std::vector<std::filesystem::path> seen;
  for (const std::string& folder : folders) {
    const std::filesystem::path path = std::filesystem::weakly_canonical(folder);
    if (std::find(seen.begin(), seen.end(), path) != seen.end())
      throw UsageError("report: each folder is shown once, '{}' is given twice", folder);
    seen.push_back(path);
  }
}

}  // namespace

std::string RenderReport(const ReportInput& input) {
  RequireDistinct(input.evaluation_dirs);
  RequireDistinct(input.training_dirs);
  Palette palette;
  std::string body;
  std::string headline;
  std::string origins;
  std::vector<std::string> commands = input.commands;
  Json figures = Json::object();
  std::string lengths;
  std::string trainings;
  std::size_t evaluations = 0;
  std::size_t sections = 0;  // of other kinds

  for (const std::string& directory : input.evaluation_dirs) {
    if (HoldsSweep(directory)) {
      const SweepResults sweep = ReadSweepResults(directory);
      body += SweepSection(sweep, sections++, &figures);
      if (input.commands.empty()) commands.push_back(sweep.command);
      continue;
    }
    if (HoldsLengths(directory)) {
      lengths += LengthSection(ReadLengths(directory), sections++, &figures);
      if (!std::filesystem::exists(std::filesystem::path(directory) / "evaluation.json")) continue;
    }
    palette.Add(ReadEvaluation(directory));
    const EvaluationRuns runs = ReadEvaluationRuns(directory, palette);
    if (evaluations == 0) {
      const Headline found = MakeHeadline(runs.evaluation, runs.rows);
      headline = "<p class=\"finding\">" + EscapeHtml(found.finding) + "</p>\n";
      if (!found.verdict.empty())
        headline += "<p class=\"verdict\">" + EscapeHtml(found.verdict) + "</p>\n";
      if (!found.missing.empty())
        headline += "<p class=\"verdict\">" + EscapeHtml(found.missing) + "</p>\n";
    }
    body += EvaluationSection(runs, evaluations++, &figures);
    if (input.commands.empty()) commands.push_back(runs.evaluation.command);
    origins += OriginHtml(directory, input.kept, runs.evaluation);
  }
  for (const std::string& directory : input.training_dirs) {
    const TrainingCurves curves = ReadTrainingCurves(directory);
    if (!curves.curve && !curves.pretrain) {
      throw UsageError(
          "report: a training directory must hold curve.csv or pretrain.csv, got neither in '{}'",
          directory);
    }
    trainings += TrainingSection(curves, sections++, &figures);
  }
  // The basis of an evaluation follows it.
  const bool behind = evaluations > 0;
  for (const auto& [summary, part] :
       {std::pair("Forecasts of lengths", &lengths), std::pair("How it was trained", &trainings)}) {
    if (!part->empty()) body += behind ? Folded(summary, *part) : *part;
  }
  if (body.empty())
    throw UsageError("report: needs at least 1 evaluation or training directory, got 0");

  if (!input.headline_html.empty()) headline = input.headline_html;
  // The page shows and prints the answer; its basis is a click away.
  if (!input.lead_html.empty()) {
    body = input.lead_html + Folded("The simulations behind this, in tables and figures", body);
  }

  // A page with a lead of its own is not made by this command.
  if (input.commands.empty() && input.lead_html.empty()) commands.push_back(ReportCommand(input));

  const std::string version = EscapeHtml(input.version);
  const std::string title =
      EscapeHtml(input.title.empty() ? "Scheduling policies compared" : input.title);
  const std::string kicker = JoinNonEmpty({"allot " + version, EscapeHtml(input.date)}, " · ");
  const std::string footer = "Made by allot " + version +
                             ". JCT: job completion time, finish minus submit. "
                             "Everything on this page is inside this file.";
  const std::string repeat = CommandsHtml(commands) + origins;
  const std::string island =
      JsonForScript(Json{{"paper_style", PaperStyle()}, {"figures", std::move(figures)}});
  const std::string style = std::string(kReportStyle) + std::string(kFigureStyle);
  return FillSlots(kReportPage, {{"title", title},
                                 {"kicker", kicker},
                                 {"version", version},
                                 {"style", style},
                                 {"headline", headline},
                                 {"body", body},
                                 {"commands", repeat},
                                 {"footer", footer},
                                 {"data", island},
                                 {"charts", kReportCharts}});
}

void WriteReport(const ReportInput& input, const std::string& path) {
  WriteTextFile(path, RenderReport(input));
}

}  // namespace allot
