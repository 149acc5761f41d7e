#include "metrics/report_data.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/check.h"
#include "metrics/curves.h"
#include "metrics/json_field.h"

namespace allot {
namespace {

constexpr int kColours = 8;
constexpr int kCdfPoints = 200;
constexpr int kTimelinePoints = 400;
constexpr std::size_t kCurvePoints = 400;
constexpr std::size_t kTimelines = 64;  // about 4 kB each

Json Numbers(const std::vector<double>& values, int digits) {
  Json list = Json::array();
  for (const double value : values) {
    const double rounded = RoundedTo(value, digits);
    // Whole numbers without ".0": a quarter of the page.
    if (rounded == std::trunc(rounded) && std::abs(rounded) < 1e15) {
      list.push_back(static_cast<std::int64_t>(rounded));
    } else {
      list.push_back(NumberOrNull(rounded));
    }
  }
  return list;
}

struct Run {
  std::vector<double> jct;  // finished jobs
  double finished_share = 1;
  std::vector<double> time;
  std::vector<double> waiting;
  std::vector<double> gpus_used;
  std::vector<double> nodes;  // empty: not noted
  double end = 0;
};

Run ReadRun(const std::filesystem::path& directory, bool with_timeline) {
  Run run;
  const NumberColumns jobs =
      ReadNumberColumns((directory / "jobs.csv").string(), {"finish_s", "jct_s"});
  const std::vector<double>& jct = jobs.at("jct_s");
  std::copy_if(jct.begin(), jct.end(), std::back_inserter(run.jct),
               [](double v) { return !std::isnan(v); });
  if (!jct.empty()) {
    run.finished_share = static_cast<double>(run.jct.size()) / static_cast<double>(jct.size());
  }
  if (!with_timeline) return run;
  NumberColumns timeline = ReadNumberColumns((directory / "timeline.csv").string(),
                                             {"time_s", "waiting", "gpus_used"}, {"nodes"});
  run.time = std::move(timeline["time_s"]);
  run.waiting = std::move(timeline["waiting"]);
  run.gpus_used = std::move(timeline["gpus_used"]);
  run.nodes = std::move(timeline["nodes"]);
  if (!run.time.empty()) run.end = run.time.back();
  for (const double finish : jobs.at("finish_s")) {
    if (!std::isnan(finish)) run.end = std::max(run.end, finish);
  }
  return run;
}

// All policies on one workload, on one grid of time.
Json TimelineData(const std::vector<Run>& runs) {
  double begin = kNever;
  double end = 0;
  for (const Run& run : runs) {
    if (!run.time.empty()) begin = std::min(begin, run.time.front());
    end = std::max(end, run.end);
  }
  Json waiting = Json::array();
  Json gpus = Json::array();
  Json nodes = Json::array();
  for (const Run& run : runs) {
    const auto curve = [&](const std::vector<double>& values) {
      if (!(end > begin)) return Json(Json::array());
      return Numbers(BucketMeans(run.time, values, run.end, begin, end, kTimelinePoints), 3);
    };
    waiting.push_back(curve(run.waiting));
    gpus.push_back(curve(run.gpus_used));
    nodes.push_back(run.nodes.empty() ? Json(Json::array()) : curve(run.nodes));
  }
  return {{"begin", std::isfinite(begin) ? begin : 0.0},
          {"end", end},
          {"waiting", std::move(waiting)},
          {"gpus", std::move(gpus)},
          {"nodes", std::move(nodes)}};
}

Json Columns(const NumberColumns& columns) {
  Json data = Json::object();
  for (const auto& [name, column] : columns) {
    if (std::all_of(column.begin(), column.end(), [](double v) { return std::isnan(v); })) continue;
    data[name] = Numbers(ThinnedMeans(column, kCurvePoints), 5);
  }
  return data;
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
  return {place % kColours, place / kColours};
}

std::size_t DrawnWorkloads(const Evaluation& evaluation) {
  const std::size_t fitting = std::max<std::size_t>(1, kTimelines / evaluation.policies.size());
  return std::min(fitting, evaluation.workloads.size());
}

nlohmann::ordered_json EvaluationChartData(const std::filesystem::path& directory,
                                           const Evaluation& evaluation,
                                           const std::vector<PolicyRow>& rows,
                                           const Palette& palette) {
  const std::size_t drawn = DrawnWorkloads(evaluation);
  Json policies = Json::array();
  std::vector<std::vector<double>> pooled(rows.size());
  std::vector<double> finished(rows.size(), 0.0);
  Json timelines = Json::array();
  for (std::size_t w = 0; w < evaluation.workloads.size(); ++w) {
    std::vector<Run> runs;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const EvaluatedPolicy& policy = evaluation.policies[rows[r].policy];
      runs.push_back(
          ReadRun(RunDirectory(directory, evaluation, evaluation.workloads[w], policy), w < drawn));
      pooled[r].insert(pooled[r].end(), runs.back().jct.begin(), runs.back().jct.end());
      finished[r] += runs.back().finished_share / static_cast<double>(evaluation.workloads.size());
    }
    if (w >= drawn) continue;
    Json timeline = TimelineData(runs);
    if (evaluation.autoscale.empty()) timeline.erase("nodes");
    timeline["name"] = evaluation.workloads[w].name;
    timelines.push_back(std::move(timeline));
  }

  GpuCount gpus = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const PolicyRow& row = rows[r];
    const PolicyStyle style = palette.Of(evaluation.policies[row.policy].id);
    gpus = std::max(gpus, evaluation.policies[row.policy].runs.front().gpus);
    policies.push_back({{"name", row.name},
                        {"colour", style.colour},
                        {"dash", style.dash},
                        {"oracle", row.oracle},
                        {"reference", row.reference},
                        {"mean", NumberOrNull(RoundedTo(row.ratio.mean, 5))},
                        {"low", NumberOrNull(RoundedTo(row.ratio.low, 5))},
                        {"high", NumberOrNull(RoundedTo(row.ratio.high, 5))},
                        {"ratios", Numbers(row.ratios, 4)},
                        {"finished", RoundedTo(finished[r], 4)},
                        {"jct", Numbers(EvenQuantiles(std::move(pooled[r]), kCdfPoints), 4)}});
  }
  Json workloads = Json::array();
  for (const EvaluatedWorkload& workload : evaluation.workloads) workloads.push_back(workload.name);
  return {{"gpus", gpus},
          {"policies", std::move(policies)},
          {"workloads", std::move(workloads)},
          {"timelines", std::move(timelines)}};
}

TrainingCurves ReadTrainingCurves(const std::filesystem::path& directory) {
  TrainingCurves curves;
  const std::filesystem::path plain = directory.lexically_normal();
  curves.name = (plain.has_filename() ? plain : plain.parent_path()).filename().string();
  const auto read = [&](const char* file,
                        const std::vector<std::string>& columns) -> std::optional<NumberColumns> {
    if (!std::filesystem::exists(directory / file)) return std::nullopt;
    return ReadNumberColumns((directory / file).string(), {}, columns);
  };
  curves.curve = read("curve.csv", {"iteration", "episodes", "cpu_s", "train_ratio",
                                    "validation_ratio", "learning_rate"});
  curves.pretrain = read("pretrain.csv", {"epoch", "loss", "held_out_loss", "agreement"});
  return curves;
}

nlohmann::ordered_json TrainingChartData(const TrainingCurves& curves) {
  Json data = {{"name", curves.name}};
  if (curves.curve) data["curve"] = Columns(*curves.curve);
  if (curves.pretrain) data["pretrain"] = Columns(*curves.pretrain);
  return data;
}

}  // namespace allot
