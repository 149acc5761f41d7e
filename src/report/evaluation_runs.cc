#include "report/evaluation_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cluster/topology_text.h"
#include "core/check.h"
#include "core/file.h"
#include "core/strings.h"
#include "metrics/csv.h"
#include "metrics/curves.h"
#include "table/csv.h"

namespace allot {
namespace {

constexpr std::size_t kTimelines = 32;  // about 20 kB each

std::vector<std::string> ColumnsOf(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string_view name : Split(Trim(text.substr(0, text.find('\n'))), ',')) {
    names.emplace_back(name);
  }
  return names;
}

RunJobs ReadJobs(const std::string& path, bool with_ids) {
  const std::string text = ReadTextFile(path);
  const std::vector<std::string> columns = ColumnsOf(text);
  CsvReader csv(text, path, {"finish_s", "jct_s"}, columns);
  const auto has = [&columns](const char* name) {
    return std::find(columns.begin(), columns.end(), name) != columns.end();
  };
  RunJobs jobs;
  const auto number = [&csv](const char* name) {
    return csv.Has(name) ? csv.Number(name) : kUnknown;
  };
  const bool sized = has("gpus");
  const bool timed = has("run_s");
  const bool tenants = has("tenant");
  const bool users = has("user");
  while (csv.Next()) {
    csv.CheckRow();
    jobs.submit.push_back(number("submit_s"));
    jobs.start.push_back(number("first_start_s"));
    jobs.finish.push_back(number("finish_s"));
    jobs.jct.push_back(number("jct_s"));
    if (sized) jobs.gpus.push_back(number("gpus"));
    if (timed) jobs.run_s.push_back(number("run_s"));
    if (tenants) jobs.tenant.emplace_back(csv.Text("tenant"));
    if (users) jobs.user.emplace_back(csv.Text("user"));
    if (with_ids) jobs.id.emplace_back(csv.Text("job_id"));
  }
  return jobs;
}

RunFigures ReadRun(const std::filesystem::path& directory, bool with_timeline) {
  RunFigures run;
  run.directory = directory;
  run.jobs = ReadJobs((directory / "jobs.csv").string(), with_timeline);
  run.begin = kNever;
  for (const double submit : run.jobs.submit) {
    if (std::isnan(submit)) continue;
    run.begin = std::min(run.begin, submit);
    run.last_submit = std::max(run.last_submit, submit);
  }
  for (const double finish : run.jobs.finish) {
    if (!std::isnan(finish)) run.end = std::max(run.end, finish);
  }
  if (with_timeline) {
    NumberColumns timeline = ReadNumberColumns((directory / "timeline.csv").string(),
                                               {"time_s", "waiting", "gpus_used"}, {"nodes"});
    run.timeline.time = std::move(timeline["time_s"]);
    run.timeline.waiting = std::move(timeline["waiting"]);
    run.timeline.gpus_used = std::move(timeline["gpus_used"]);
    run.timeline.nodes = std::move(timeline["nodes"]);
    if (!run.timeline.time.empty()) {
      run.begin = std::min(run.begin, run.timeline.time.front());
      run.end = std::max(run.end, run.timeline.time.back());
    }
  }
  if (run.begin == kNever) run.begin = 0;
  return run;
}

std::optional<ClusterSpec> ClusterOf(const Evaluation& evaluation) {
  try {
    ClusterSpec cluster = ClusterSpec::Parse(evaluation.cluster);
    ReadReport report;
    if (!evaluation.topology.empty()) {
      cluster.SetTopology(ParseTopology(evaluation.topology, cluster, &report));
    }
    return cluster;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

void Palette::Add(const Evaluation& evaluation) {
  const auto add = [this](const std::string& id) {
    if (std::find(ids_.begin(), ids_.end(), id) == ids_.end()) ids_.push_back(id);
  };
  add(evaluation.reference);
  for (const EvaluatedPolicy& policy : evaluation.policies) add(policy.id);
}

PolicyStyle Palette::Of(const std::string& id) const {
  const auto found = std::find(ids_.begin(), ids_.end(), id);
  ALLOT_CHECK(found != ids_.end());
  const auto place = static_cast<int>(found - ids_.begin());
  return {place % kFigureColours, place / kFigureColours};
}

double RunFigures::UseUntil(double until, double gpus) const {
  if (timeline.time.empty() || !(until > begin) || !(gpus > 0)) return kUnknown;
  double held = 0;
  for (std::size_t i = 0; i < timeline.time.size(); ++i) {
    const double to = i + 1 < timeline.time.size() ? timeline.time[i + 1] : end;
    held += timeline.gpus_used[i] * std::max(0.0, std::min(to, until) - timeline.time[i]);
  }
  return held / (gpus * (until - begin));
}

FigureSeries EvaluationRuns::Series(std::size_t row) const {
  return {.name = rows[row].name,
          .colour = styles[row].colour,
          .dash = styles[row].dash,
          .strong = rows[row].reference};
}

void EvaluationRuns::Choose(std::size_t workload, Figure* figure) const {
  if (drawn < 2) return;
  figure->choice_kind = "Workload";
  figure->choice = fmt::format("{} of {}, seed {}", workload + 1, evaluation.workloads.size(),
                               evaluation.workloads[workload].seed);
}

double EvaluationRuns::ArrivalsEnd(std::size_t workload) const {
  double begin = kNever;
  double last = 0;
  double end = 0;
  for (const RunFigures& run : runs[workload]) {
    begin = std::min(begin, run.begin);
    last = std::max(last, run.last_submit);
    end = std::max(end, run.end);
  }
  return last - begin > 0.05 * (end - begin) ? last : end;
}

double EvaluationRuns::ArrivalsUse(std::size_t row) const {
  double sum = 0;
  for (std::size_t w = 0; w < drawn; ++w) {
    sum += runs[w][row].UseUntil(ArrivalsEnd(w), gpus) / static_cast<double>(drawn);
  }
  return sum;
}

std::size_t DrawnWorkloads(const Evaluation& evaluation) {
  const std::size_t fitting = std::max<std::size_t>(1, kTimelines / evaluation.policies.size());
  return std::min(fitting, evaluation.workloads.size());
}

EvaluationRuns ReadEvaluationRuns(const std::filesystem::path& directory, const Palette& palette) {
  EvaluationRuns all;
  all.evaluation = ReadEvaluation(directory);
  all.rows = CompareToReference(all.evaluation);
  std::stable_partition(all.rows.begin(), all.rows.end(),
                        [](const PolicyRow& row) { return row.reference; });
  all.drawn = DrawnWorkloads(all.evaluation);
  all.cluster = ClusterOf(all.evaluation);
  for (const PolicyRow& row : all.rows) {
    const EvaluatedPolicy& policy = all.evaluation.policies[row.policy];
    all.styles.push_back(palette.Of(policy.id));
    all.gpus = std::max(all.gpus, policy.runs.front().gpus);
  }
  for (std::size_t w = 0; w < all.evaluation.workloads.size(); ++w) {
    std::vector<RunFigures>& runs = all.runs.emplace_back();
    runs.reserve(all.rows.size());
    for (const PolicyRow& row : all.rows) {
      const EvaluatedPolicy& policy = all.evaluation.policies[row.policy];
      runs.push_back(
          ReadRun(RunDirectory(directory, all.evaluation, all.evaluation.workloads[w], policy),
                  w < all.drawn));
    }
  }
  return all;
}

}  // namespace allot
