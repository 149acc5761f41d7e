#include "metrics/summary.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/check.h"
#include "metrics/json_field.h"
#include "metrics/quantile.h"

namespace allot {
namespace {

double Average(const std::vector<double>& values) {
  if (values.empty()) return kUnknown;
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// GPUs in use, as handed out at each decision, times the part of [begin, end) that they were.
double GpuSecondsWithin(std::span<const TimelinePoint> timeline, Seconds begin, Seconds end) {
  double sum = 0;
  for (std::size_t i = 0; i < timeline.size(); ++i) {
    const Seconds from = std::max(timeline[i].time, begin);
    const Seconds to = std::min(i + 1 < timeline.size() ? timeline[i + 1].time : end, end);
    if (to > from) sum += timeline[i].gpus_used * (to - from);
  }
  return sum;
}

// Of nodes that were there in [begin, end); those of the first point were there before it.
double NodeHoursWithin(std::span<const TimelinePoint> timeline, Seconds begin, Seconds end) {
  double sum = 0;
  for (std::size_t i = 0; i < timeline.size(); ++i) {
    const Seconds from = i == 0 ? begin : std::max(timeline[i].time, begin);
    const Seconds to = std::min(i + 1 < timeline.size() ? timeline[i + 1].time : end, end);
    if (to > from) sum += timeline[i].nodes * (to - from);
  }
  return sum / 3600;
}

// Jobs that had not ended when their trace did run for a time that was drawn: no figure is over
// them as if they had ended.
std::vector<JobRecord> EndedOnly(const Workload& workload, std::span<const JobRecord> records) {
  std::vector<JobRecord> ended;
  for (const JobRecord& record : records) {
    if (workload.jobs[static_cast<std::size_t>(record.job)].ended()) ended.push_back(record);
  }
  return ended;
}

}  // namespace

RunSummary Summarise(const RunFacts& facts) {
  RunSummary s;
  s.policy = facts.policy;
  s.oracle = facts.oracle;
  s.did_not_finish = facts.did_not_finish;
  s.lost = facts.lost;
  s.starts = facts.starts;
  s.lending = facts.lending;
  s.gpus = facts.gpus;
  s.decisions = facts.decisions;
  s.cpu_s = facts.cpu_s;
  s.wall_s = facts.wall_s;
  std::span<const JobRecord> records = facts.records;
  if (facts.tracked) {
    ALLOT_CHECK_LT(static_cast<std::size_t>(facts.tracked->last), records.size());
    records = records.subspan(static_cast<std::size_t>(facts.tracked->first),
                              static_cast<std::size_t>(facts.tracked->last) -
                                  static_cast<std::size_t>(facts.tracked->first) + 1);
  }
  s.jobs = static_cast<std::int64_t>(records.size());

  Seconds first_submit = kNever;
  Seconds last_finish = -kNever;
  const auto outcome_of = [&facts](const JobRecord& record) {
    return facts.workload == nullptr
               ? Outcome::kUnreported
               : facts.workload->jobs[static_cast<std::size_t>(record.job)].outcome;
  };
  const bool cut_off = facts.workload != nullptr && facts.workload->recorded_until.has_value();
  std::vector<double> jct;
  std::vector<double> queueing;
  jct.reserve(records.size());
  queueing.reserve(records.size());
  for (const JobRecord& record : records) {
    first_submit = std::min(first_submit, record.submit);
    s.gpu_seconds += record.gpu_seconds;
    s.preemptions += record.preemptions;
    s.node_stops += record.failures;
    s.evictions += record.evictions;
    s.restarts += record.restarts;
    s.node_shrinks += record.shrinks;
    const Outcome outcome = outcome_of(record);
    if (record.first_start != kNever && outcome != Outcome::kPending)
      queueing.push_back(record.first_start - record.submit);
    if (record.finish == kNever) {
      ++s.unfinished;
      continue;
    }
    if (outcome == Outcome::kRunning || outcome == Outcome::kPending) continue;
    last_finish = std::max(last_finish, record.finish);
    jct.push_back(record.finish - record.submit);
  }

  if (s.did_not_finish) jct.clear();  // of those that ended alone it would look short
  s.avg_jct_s = Average(jct);
  s.avg_queueing_s = Average(queueing);
  std::sort(jct.begin(), jct.end());
  s.p50_jct_s = Quantile<double>(jct, 0.50);
  s.p95_jct_s = Quantile<double>(jct, 0.95);
  s.p99_jct_s = Quantile<double>(jct, 0.99);
  if (!jct.empty()) s.makespan_s = last_finish - first_submit;

  // A run that was cut short has GPUs allocated until its last decision, which may be after the
  // last finish.
  Seconds end = last_finish;
  if (s.unfinished > 0 && !facts.timeline.empty()) end = std::max(end, facts.timeline.back().time);
  if (cut_off) end = *facts.workload->recorded_until;
  if (facts.gpus > 0 && end > first_submit) {
    const double used = facts.tracked || cut_off
                            ? GpuSecondsWithin(facts.timeline, first_submit, end)
                            : s.gpu_seconds;
    s.gpu_utilisation = used / (static_cast<double>(facts.gpus) * (end - first_submit));
  }

  const bool known = std::any_of(facts.timeline.begin(), facts.timeline.end(),
                                 [](const TimelinePoint& point) { return point.nodes > 0; });
  if (known && end > first_submit) {
    s.node_hours = NodeHoursWithin(facts.timeline, first_submit, end);
    if (facts.node_price > 0) s.cost = s.node_hours * facts.node_price;
  }

  std::vector<float> latency(facts.decision_us.begin(), facts.decision_us.end());
  std::sort(latency.begin(), latency.end());
  s.decision_us_p50 = Quantile<float>(latency, 0.50);
  s.decision_us_p99 = Quantile<float>(latency, 0.99);
  s.notes = facts.notes;
  if (facts.workload != nullptr && !s.did_not_finish) {
    std::vector<JobRecord> ended;
    if (cut_off) records = ended = EndedOnly(*facts.workload, records);
    s.service = SummariseService(*facts.workload, facts.gpus, facts.records, records,
                                 facts.even_durations, facts.alone);
  }
  return s;
}

nlohmann::ordered_json ToJson(const RunSummary& s) {
  Json json;
  json["policy"] = s.policy;
  json["jobs"] = s.jobs;
  json["avg_jct_s"] = NumberOrNull(s.avg_jct_s);
  json["p50_jct_s"] = NumberOrNull(s.p50_jct_s);
  json["p95_jct_s"] = NumberOrNull(s.p95_jct_s);
  json["p99_jct_s"] = NumberOrNull(s.p99_jct_s);
  json["makespan_s"] = NumberOrNull(s.makespan_s);
  json["gpu_utilisation"] = NumberOrNull(s.gpu_utilisation);
  json["decisions"] = s.decisions;
  json["decision_us_p50"] = NumberOrNull(s.decision_us_p50);
  json["decision_us_p99"] = NumberOrNull(s.decision_us_p99);
  json["cpu_s"] = NumberOrNull(s.cpu_s);
  json["wall_s"] = NumberOrNull(s.wall_s);
  json["oracle"] = s.oracle;
  json["unfinished"] = s.unfinished;
  if (s.did_not_finish) json["did_not_finish"] = *s.did_not_finish;
  json["gpus"] = s.gpus;
  json["gpu_seconds"] = s.gpu_seconds;
  json["avg_queueing_s"] = NumberOrNull(s.avg_queueing_s);
  json["preemptions"] = s.preemptions;
  if (s.node_stops > 0) json["node_stops"] = s.node_stops;
  if (s.evictions > 0) json["evictions"] = s.evictions;
  json["restarts"] = s.restarts;
  if (s.node_shrinks > 0) json["node_shrinks"] = s.node_shrinks;
  if (s.lost) {
    json["lost_gpu_seconds"] = {{"redone", s.lost->redone},
                                {"restarts", s.lost->restarts},
                                {"checkpoints", s.lost->checkpoints}};
  }
  if (s.starts) {
    Json& starts = json["starts"];
    for (const auto& [name, figure] : kStartFigures) starts[name] = (*s.starts).*figure;
  }
  if (s.lending) {
    json["lending"] = {{"demand_gpus", s.lending->demand},
                       {"lent_gpus", s.lending->lent},
                       {"shortage", s.lending->shortage}};
  }
  if (std::isfinite(s.node_hours)) json["node_hours"] = s.node_hours;
  if (std::isfinite(s.cost)) json["cost"] = s.cost;
  if (s.service) json["service"] = ToJson(*s.service);
  if (!s.types.empty()) json["gpu_types"] = ToJson(s.types);
  for (const auto& [name, text] : s.notes) json["notes"][name] = text;
  return json;
}

RunSummary SummaryFromJson(const nlohmann::ordered_json& json, std::string_view where) {
  RunSummary s;
  s.policy = RequireText(json, "policy", where);
  s.jobs = RequireInteger(json, "jobs", where);
  s.avg_jct_s = RequireNumber(json, "avg_jct_s", where);
  s.p50_jct_s = RequireNumber(json, "p50_jct_s", where);
  s.p95_jct_s = RequireNumber(json, "p95_jct_s", where);
  s.p99_jct_s = RequireNumber(json, "p99_jct_s", where);
  s.makespan_s = RequireNumber(json, "makespan_s", where);
  s.gpu_utilisation = RequireNumber(json, "gpu_utilisation", where);
  s.decisions = RequireInteger(json, "decisions", where);
  s.decision_us_p50 = RequireNumber(json, "decision_us_p50", where);
  s.decision_us_p99 = RequireNumber(json, "decision_us_p99", where);
  s.cpu_s = RequireNumber(json, "cpu_s", where);
  s.wall_s = RequireNumber(json, "wall_s", where);
  if (json.contains("oracle")) s.oracle = RequireFlag(json, "oracle", where);
  if (json.contains("unfinished")) s.unfinished = RequireInteger(json, "unfinished", where);
  if (json.contains("did_not_finish"))
    s.did_not_finish = RequireText(json, "did_not_finish", where);
  if (json.contains("gpus")) s.gpus = static_cast<GpuCount>(RequireInteger(json, "gpus", where));
  if (json.contains("gpu_seconds")) s.gpu_seconds = RequireNumber(json, "gpu_seconds", where);
  if (json.contains("avg_queueing_s"))
    s.avg_queueing_s = RequireNumber(json, "avg_queueing_s", where);
  if (json.contains("preemptions")) s.preemptions = RequireInteger(json, "preemptions", where);
  if (json.contains("node_stops")) s.node_stops = RequireInteger(json, "node_stops", where);
  if (json.contains("evictions")) s.evictions = RequireInteger(json, "evictions", where);
  if (json.contains("restarts")) s.restarts = RequireInteger(json, "restarts", where);
  if (json.contains("node_shrinks")) s.node_shrinks = RequireInteger(json, "node_shrinks", where);
  if (json.contains("lost_gpu_seconds")) {
    const nlohmann::ordered_json& lost = json["lost_gpu_seconds"];
    const std::string place = fmt::format("{}: lost_gpu_seconds", where);
    s.lost = {.redone = RequireNumber(lost, "redone", place),
              .restarts = RequireNumber(lost, "restarts", place),
              .checkpoints = RequireNumber(lost, "checkpoints", place)};
  }
  if (json.contains("starts")) {
    s.starts.emplace();
    const std::string place = fmt::format("{}: starts", where);
    for (const auto& [name, figure] : kStartFigures) {
      (*s.starts).*figure = RequireInteger(json["starts"], name, place);
    }
  }
  if (json.contains("lending")) {
    const nlohmann::ordered_json& lending = json["lending"];
    const std::string place = fmt::format("{}: lending", where);
    s.lending = {.demand = RequireNumber(lending, "demand_gpus", place),
                 .lent = RequireNumber(lending, "lent_gpus", place),
                 .shortage = RequireNumber(lending, "shortage", place)};
  }
  if (json.contains("node_hours")) s.node_hours = RequireNumber(json, "node_hours", where);
  if (json.contains("cost")) s.cost = RequireNumber(json, "cost", where);
  if (json.contains("service")) {
    s.service = ServiceFromJson(json["service"], fmt::format("{}: service", where));
  }
  if (json.contains("gpu_types")) {
    s.types = TypeUseFromJson(json["gpu_types"], fmt::format("{}: gpu_types", where));
  }
  if (json.contains("notes")) {
    for (const auto& [name, text] : json["notes"].items()) {
      s.notes.emplace_back(name, RequireText(json["notes"], name.c_str(), where));
    }
  }
  return s;
}

}  // namespace allot
