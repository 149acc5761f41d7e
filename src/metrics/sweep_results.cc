#include "metrics/sweep_results.h"

#include <algorithm>

#include "core/check.h"
#include "core/file.h"
#include "metrics/csv.h"
#include "metrics/json_field.h"

namespace allot {
namespace {

// Shortest text that reads back exactly; empty when not known.
std::string Field(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }
std::string Field(std::int64_t value) { return fmt::format("{}", value); }

// "a10=1.51|a100=0"; empty for a cluster of one type.
std::string DemandField(const std::vector<TypeUse>& types) {
  std::string text;
  for (const TypeUse& type : types) {
    text += fmt::format("{}{}={}", text.empty() ? "" : "|", type.type, Field(type.demand));
  }
  return text;
}

// None where the key is absent.
std::vector<double> Numbers(const Json& json, const char* key, std::string_view where) {
  std::vector<double> numbers;
  if (!json.contains(key)) return numbers;
  for (const Json& number : RequireList(json, key, where)) {
    if (!number.is_number()) {
      throw DataError("{}: '{}' must be a list of numbers, got {}", where, key, number.dump());
    }
    numbers.push_back(number.get<double>());
  }
  return numbers;
}

std::string Line(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields) {
    if (!line.empty()) line += ',';
    line += CsvField(field);
  }
  return line + "\n";
}

}  // namespace

std::size_t SweepResults::FactorAt(std::string_view name) const {
  const auto at = std::find(factors.begin(), factors.end(), name);
  ALLOT_CHECK(at != factors.end());
  return static_cast<std::size_t>(at - factors.begin());
}

nlohmann::ordered_json ToJson(const SweepCell& cell, const std::vector<std::string>& factors) {
  ALLOT_CHECK_EQ(cell.values.size(), factors.size());
  Json values = Json::object();
  for (std::size_t f = 0; f < factors.size(); ++f) values[factors[f]] = cell.values[f];
  Json json = {{"cell", std::move(values)},
               {"workload", cell.workload},
               {"load", NumberOrNull(cell.load)},
               {"end_s", NumberOrNull(cell.end_s)},
               {"summary", ToJson(cell.summary)},
               {"arrivals_use", NumberOrNull(cell.arrivals_use)},
               {"jct_quantiles_s", cell.jct_quantiles_s},
               {"fairness_quantiles", cell.fairness_quantiles}};
  // Only where they say something.
  if (cell.cut_off) json["cut_off"] = true;
  if (!cell.failed.empty()) json["failed"] = cell.failed;
  if (cell.hidden > 0) json["hidden"] = cell.hidden;
  if (cell.window != kWindowOfItsOwn) json["window"] = cell.window;
  return json;
}

SweepCell SweepCellFromJson(const nlohmann::ordered_json& json,
                            const std::vector<std::string>& factors, std::string_view where) {
  SweepCell cell;
  const Json& values = RequireField(json, "cell", where);
  for (const std::string& factor : factors) {
    cell.values.push_back(RequireText(values, factor.c_str(), where));
  }
  if (values.size() != factors.size()) {
    throw DataError("{}: a cell must have {} factors, got {}", where, factors.size(),
                    values.dump());
  }
  cell.workload = RequireText(json, "workload", where);
  cell.load = RequireNumber(json, "load", where);
  cell.end_s = RequireNumber(json, "end_s", where);
  cell.summary = SummaryFromJson(RequireField(json, "summary", where), where);
  // Absent in results of former versions.
  if (json.contains("arrivals_use")) cell.arrivals_use = RequireNumber(json, "arrivals_use", where);
  cell.jct_quantiles_s = Numbers(json, "jct_quantiles_s", where);
  cell.fairness_quantiles = Numbers(json, "fairness_quantiles", where);
  cell.cut_off = json.value("cut_off", false);
  if (json.contains("failed")) cell.failed = RequireText(json, "failed", where);
  cell.hidden = json.value("hidden", std::int64_t{0});
  cell.window = json.value("window", kWindowOfItsOwn);
  return cell;
}

nlohmann::ordered_json ToJson(const SweepResults& results) {
  Json cells = Json::array();
  for (const SweepCell& cell : results.cells) {
    SweepCell timeless = cell;
    timeless.summary.cpu_s = kUnknown;
    timeless.summary.wall_s = kUnknown;
    cells.push_back(ToJson(timeless, results.factors));
  }
  return {{"title", results.title},     {"command", results.command},
          {"factors", results.factors}, {"reference", results.reference},
          {"notes", results.notes},     {"cells", std::move(cells)}};
}

SweepResults SweepResultsFromJson(const nlohmann::ordered_json& json, std::string_view where) {
  SweepResults results;
  results.title = RequireText(json, "title", where);
  results.command = RequireText(json, "command", where);
  for (const Json& name : RequireList(json, "factors", where)) {
    if (!name.is_string()) {
      throw DataError("{}: a factor's name must be a string, got {}", where, name.dump());
    }
    results.factors.push_back(name.get<std::string>());
  }
  for (const std::string_view needed : {kSeedFactor, kPolicyFactor}) {
    if (std::find(results.factors.begin(), results.factors.end(), needed) ==
        results.factors.end()) {
      throw DataError("{}: factor '{}' is required, got {}", where, needed,
                      RequireField(json, "factors", where).dump());
    }
  }
  const Json& reference = RequireField(json, "reference", where);
  for (const auto& [factor, value] : reference.items()) {
    results.reference[factor] = RequireText(reference, factor.c_str(), where);
  }
  if (json.contains("notes")) {
    for (const Json& note : RequireList(json, "notes", where)) {
      results.notes.push_back(note.is_string() ? note.get<std::string>() : note.dump());
    }
  }
  for (const Json& cell : RequireList(json, "cells", where)) {
    results.cells.push_back(SweepCellFromJson(cell, results.factors, where));
  }
  if (results.cells.empty()) throw DataError("{}: a sweep has at least 1 cell, got 0", where);
  return results;
}

std::string SweepCellsCsv(const SweepResults& results) {
  std::vector<std::string> header = results.factors;
  for (const char* name : {"workload_name",
                           "offered_load",
                           "jobs",
                           "unfinished",
                           "avg_jct_s",
                           "p50_jct_s",
                           "p95_jct_s",
                           "p99_jct_s",
                           "avg_queueing_s",
                           "makespan_s",
                           "gpu_utilisation",
                           "gpus",
                           "gpu_seconds",
                           "decisions",
                           "preemptions",
                           "restarts",
                           "evictions",
                           "redone_gpu_seconds",
                           "shortage",
                           "avg_bounded_slowdown",
                           "avg_fairness",
                           "p95_fairness",
                           "missed_deadlines",
                           "oracle",
                           "end_s",
                           "arrivals_use",
                           "cut_off",
                           "hidden",
                           "failed",
                           "demand_by_type"}) {
    header.emplace_back(name);
  }
  std::string text = Line(header);
  for (const SweepCell& cell : results.cells) {
    const RunSummary& s = cell.summary;
    const ServiceSummary service = s.service.value_or(ServiceSummary{});
    std::vector<std::string> fields = cell.values;
    for (std::string field : {cell.workload,
                              Field(cell.load),
                              Field(s.jobs),
                              Field(s.unfinished),
                              Field(s.avg_jct_s),
                              Field(s.p50_jct_s),
                              Field(s.p95_jct_s),
                              Field(s.p99_jct_s),
                              Field(s.avg_queueing_s),
                              Field(s.makespan_s),
                              Field(s.gpu_utilisation),
                              Field(std::int64_t{s.gpus}),
                              Field(s.gpu_seconds),
                              Field(s.decisions),
                              Field(s.preemptions),
                              Field(s.restarts),
                              Field(s.evictions),
                              Field(s.lost ? s.lost->redone : kUnknown),
                              Field(s.lending ? s.lending->shortage : kUnknown),
                              Field(service.avg_bounded_slowdown),
                              Field(service.avg_fairness),
                              Field(service.p95_fairness),
                              Field(service.missed_deadlines),
                              std::string(s.oracle ? "true" : "false"),
                              Field(cell.end_s),
                              Field(cell.arrivals_use),
                              std::string(cell.cut_off ? "true" : "false"),
                              Field(cell.hidden),
                              cell.failed,
                              DemandField(s.types)}) {
      fields.push_back(std::move(field));
    }
    text += Line(fields);
  }
  return text;
}

std::string SweepTimingsCsv(const SweepResults& results) {
  std::vector<std::string> header = results.factors;
  header.insert(header.end(), {"cpu_s", "wall_s"});
  std::string text = Line(header);
  for (const SweepCell& cell : results.cells) {
    std::vector<std::string> fields = cell.values;
    fields.push_back(Field(cell.summary.cpu_s));
    fields.push_back(Field(cell.summary.wall_s));
    text += Line(fields);
  }
  return text;
}

bool HoldsSweep(const std::filesystem::path& directory) {
  return std::filesystem::exists(directory / kSweepResultsFile);
}

SweepResults ReadSweepResults(const std::filesystem::path& directory) {
  const std::string path = (directory / kSweepResultsFile).string();
  return SweepResultsFromJson(ParseJson(ReadTextFile(path), path), path);
}

}  // namespace allot
