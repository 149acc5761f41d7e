#include "metrics/evaluation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/file.h"
#include "core/json_text.h"
#include "metrics/json_field.h"
#include "metrics/run_directory.h"

namespace allot {
namespace {

void RequireUnique(std::vector<std::string> names, std::string_view kind, std::string_view where) {
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) {
    throw DataError("{}: each {} must appear once, got '{}' twice", where, kind, *twice);
  }
}

EvaluatedWorkload WorkloadFromJson(const Json& json, std::string_view where) {
  EvaluatedWorkload workload;
  workload.name = RequireText(json, "name", where);
  workload.jobs = RequireInteger(json, "jobs", where);
  workload.load = RequireNumber(json, "load", where);
  workload.seed = static_cast<std::uint64_t>(RequireInteger(json, "seed", where));
  if (json.contains("models_drawn")) {
    workload.drawn.jobs = RequireInteger(json["models_drawn"], "jobs", where);
    workload.drawn.from = RequireText(json["models_drawn"], "from", where);
  }
  const auto count = [&](const char* key, std::int64_t* value) {
    if (json.contains(key)) *value = RequireInteger(json, key, where);
  };
  count("running", &workload.running);
  count("pending", &workload.pending);
  count("time_limits", &workload.limited);
  if (json.contains("fixed_sizes")) {
    workload.fixed_sizes = RequireInteger(json, "fixed_sizes", where);
  }
  if (json.contains("jct_bound_s"))
    workload.jct_bound_s = RequireNumber(json, "jct_bound_s", where);
  if (json.contains("window")) {
    workload.window = static_cast<std::int32_t>(RequireInteger(json, "window", where));
  }
  return workload;
}

EvaluatedPolicy PolicyFromJson(const Json& json, std::size_t workloads, std::string_view where) {
  EvaluatedPolicy policy;
  policy.id = RequireText(json, "id", where);
  policy.label = RequireText(json, "label", where);
  if (json.contains("spec")) policy.spec = RequireText(json, "spec", where);
  policy.oracle = RequireFlag(json, "oracle", where);
  policy.uses_lengths = json.value("uses_lengths", false);
  const Json& runs = RequireList(json, "runs", where);
  if (runs.size() != workloads) {
    throw DataError("{}: 'runs' must hold one summary per workload ({}), got {}", where, workloads,
                    runs.size());
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    policy.runs.push_back(SummaryFromJson(runs[i], fmt::format("{}: runs[{}]", where, i)));
  }
  return policy;
}

}  // namespace

std::vector<std::int32_t> WindowsOf(const std::vector<EvaluatedWorkload>& workloads) {
  std::vector<std::int32_t> windows;
  windows.reserve(workloads.size());
  for (const EvaluatedWorkload& workload : workloads) windows.push_back(workload.window);
  return windows;
}

nlohmann::ordered_json ToJson(const DrawnModels& drawn) {
  return {{"jobs", drawn.jobs}, {"from", drawn.from}};
}

nlohmann::ordered_json ToJson(const Evaluation& evaluation) {
  Json json;
  json["title"] = evaluation.title;
  if (evaluation.training_overlap == TrainingOverlap::kNotKnown) {
    json["unseen"] = nullptr;
  } else if (evaluation.training_overlap != TrainingOverlap::kNone) {
    json["unseen"] = evaluation.training_overlap == TrainingOverlap::kUnseen;
  }
  json["command"] = evaluation.command;
  json["cluster"] = evaluation.cluster;
  if (!evaluation.topology.empty()) json["topology"] = evaluation.topology;
  json["length_estimates"] = evaluation.length_estimates;
  json["beliefs"] = evaluation.beliefs;
  json["progress"] = evaluation.progress;
  if (evaluation.as_choices) json["as_choices"] = true;
  if (!evaluation.node_events.empty()) json["node_events"] = evaluation.node_events;
  if (!evaluation.autoscale.empty()) json["autoscale"] = evaluation.autoscale;
  json["restart_cost_s"] = evaluation.restart_cost_s;
  if (evaluation.launch_cost_s > 0) json["launch_cost_s"] = evaluation.launch_cost_s;
  json["interval_s"] = evaluation.interval_s;
  if (evaluation.decide_on_events) json["decide_on_events"] = true;
  json["reference"] = evaluation.reference;
  if (!evaluation.read.is_null()) json["read"] = evaluation.read;
  if (!evaluation.cluster_read.is_null()) json["cluster_read"] = evaluation.cluster_read;
  json["workloads"] = Json::array();
  for (const EvaluatedWorkload& workload : evaluation.workloads) {
    json["workloads"].push_back({{"name", workload.name},
                                 {"jobs", workload.jobs},
                                 {"load", NumberOrNull(workload.load)},
                                 {"seed", workload.seed}});
    if (workload.drawn.jobs > 0) json["workloads"].back()["models_drawn"] = ToJson(workload.drawn);
    if (workload.running > 0) json["workloads"].back()["running"] = workload.running;
    if (workload.pending > 0) json["workloads"].back()["pending"] = workload.pending;
    if (workload.limited > 0) json["workloads"].back()["time_limits"] = workload.limited;
    if (workload.fixed_sizes > 0) json["workloads"].back()["fixed_sizes"] = workload.fixed_sizes;
    if (std::isfinite(workload.jct_bound_s))
      json["workloads"].back()["jct_bound_s"] = workload.jct_bound_s;
    if (workload.window != kWindowOfItsOwn) json["workloads"].back()["window"] = workload.window;
  }
  json["policies"] = Json::array();
  for (const EvaluatedPolicy& policy : evaluation.policies) {
    Json runs = Json::array();
    for (const RunSummary& run : policy.runs) runs.push_back(ToJson(run));
    json["policies"].push_back({{"id", policy.id},
                                {"label", policy.label},
                                {"oracle", policy.oracle},
                                {"runs", std::move(runs)}});
    if (policy.uses_lengths) json["policies"].back()["uses_lengths"] = true;
    if (!policy.spec.empty()) json["policies"].back()["spec"] = policy.spec;
  }
  return json;
}

Evaluation EvaluationFromJson(const nlohmann::ordered_json& json, std::string_view where) {
  Evaluation evaluation;
  if (json.contains("title")) evaluation.title = RequireText(json, "title", where);
  if (const auto unseen = json.find("unseen"); unseen != json.end()) {
    evaluation.training_overlap = unseen->is_null()                    ? TrainingOverlap::kNotKnown
                                  : RequireFlag(json, "unseen", where) ? TrainingOverlap::kUnseen
                                                                       : TrainingOverlap::kSeen;
  }
  evaluation.command = RequireText(json, "command", where);
  evaluation.cluster = RequireText(json, "cluster", where);
  evaluation.length_estimates = RequireText(json, "length_estimates", where);
  // Evaluations of before had no others.
  if (json.contains("beliefs")) evaluation.beliefs = RequireText(json, "beliefs", where);
  if (json.contains("progress")) evaluation.progress = RequireText(json, "progress", where);
  evaluation.as_choices = json.value("as_choices", false);
  if (json.contains("topology")) evaluation.topology = RequireText(json, "topology", where);
  if (json.contains("node_events")) {
    evaluation.node_events = RequireText(json, "node_events", where);
  }
  if (json.contains("autoscale")) evaluation.autoscale = RequireText(json, "autoscale", where);
  evaluation.restart_cost_s = RequireNumber(json, "restart_cost_s", where);
  if (json.contains("launch_cost_s")) {
    evaluation.launch_cost_s = RequireNumber(json, "launch_cost_s", where);
  }
  evaluation.interval_s = RequireNumber(json, "interval_s", where);
  if (json.contains("decide_on_events")) {
    evaluation.decide_on_events = RequireFlag(json, "decide_on_events", where);
  }
  evaluation.reference = RequireText(json, "reference", where);

  if (json.contains("read")) evaluation.read = json["read"];
  if (json.contains("cluster_read")) evaluation.cluster_read = json["cluster_read"];

  std::vector<std::string> names;
  for (const Json& workload : RequireList(json, "workloads", where)) {
    const std::string at = fmt::format("{}: workloads[{}]", where, names.size());
    evaluation.workloads.push_back(WorkloadFromJson(workload, at));
    names.push_back(evaluation.workloads.back().name);
  }
  if (names.empty()) throw DataError("{}: 'workloads' must hold at least 1 entry, got 0", where);
  RequireUnique(names, "workload", where);

  std::vector<std::string> ids;
  for (const Json& policy : RequireList(json, "policies", where)) {
    const std::string at = fmt::format("{}: policies[{}]", where, ids.size());
    evaluation.policies.push_back(PolicyFromJson(policy, names.size(), at));
    ids.push_back(evaluation.policies.back().id);
  }
  if (ids.empty()) throw DataError("{}: 'policies' must hold at least 1 entry, got 0", where);
  if (std::find(ids.begin(), ids.end(), evaluation.reference) == ids.end()) {
    throw DataError("{}: 'reference' must be one of the policies ({}), got '{}'", where,
                    fmt::join(ids, ", "), evaluation.reference);
  }
  RequireUnique(ids, "policy", where);
  return evaluation;
}

void WriteEvaluation(const std::filesystem::path& directory, const Evaluation& evaluation) {
  WriteTextFile(directory / "evaluation.json", JsonText(ToJson(evaluation)) + "\n");
}

Evaluation ReadEvaluation(const std::filesystem::path& directory) {
  const std::string path = (directory / "evaluation.json").string();
  return EvaluationFromJson(ParseJson(ReadTextFile(path), path), path);
}

void RemoveEvaluation(const std::filesystem::path& directory) {
  namespace fs = std::filesystem;
  if (!fs::exists(directory / "evaluation.json")) return;
  const Evaluation old = ReadEvaluation(directory);
  fs::remove(directory / "evaluation.json");
  std::error_code ignored;
  for (const EvaluatedWorkload& workload : old.workloads) {
    for (const EvaluatedPolicy& policy : old.policies) {
      fs::remove_all(RunDirectory(directory, old, workload, policy), ignored);
    }
    const fs::path of_workload = directory / FolderName(workload.name);
    if (fs::is_empty(of_workload, ignored)) fs::remove(of_workload, ignored);
  }
}

std::filesystem::path RunDirectory(const std::filesystem::path& directory,
                                   const Evaluation& evaluation, const EvaluatedWorkload& workload,
                                   const EvaluatedPolicy& policy) {
  const std::filesystem::path of_workload = directory / FolderName(workload.name);
  const bool flat = evaluation.workloads.size() == 1 && !std::filesystem::is_directory(of_workload);
  return (flat ? directory : of_workload) / FolderName(policy.id);
}

}  // namespace allot
