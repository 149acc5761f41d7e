#include "workload/trace_stats.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "workload/calendar.h"
#include "workload/outcome.h"
#include "workload/sample.h"

namespace allot {
namespace {

struct GpuClass {
  const char* label;
  GpuCount last;
};
constexpr std::array<GpuClass, 6> kGpuClasses = {{
    {"1", 1},
    {"2", 2},
    {"3-4", 4},
    {"5-8", 8},
    {"9-16", 16},
    {">16", std::numeric_limits<GpuCount>::max()},
}};

double Quantile(const std::vector<double>& sorted, double level) {
  const double position = level * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

Distribution Summarise(std::vector<double> values) {
  Distribution result;
  if (values.empty()) return result;
  std::sort(values.begin(), values.end());
  result.p5 = Quantile(values, .05);
  result.p25 = Quantile(values, .25);
  result.p50 = Quantile(values, .50);
  result.p75 = Quantile(values, .75);
  result.p95 = Quantile(values, .95);
  result.p99 = Quantile(values, .99);
  result.max = values.back();
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  result.mean = sum / count;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  if (result.mean > 0) result.cv = std::sqrt(squares / count) / result.mean;
  return result;
}

void CountInto(const Workload& workload, const Job& job, JobGroup* group) {
  ++group->jobs;
  group->gpu_seconds += job.gpus * workload.RecordedRunTime(job);
}

void SetShares(double jobs, double gpu_seconds, std::vector<JobGroup>* groups) {
  for (JobGroup& group : *groups) {
    group.job_share = static_cast<double>(group.jobs) / jobs;
    group.gpu_time_share = group.gpu_seconds / gpu_seconds;
  }
}

std::vector<JobGroup> ByGpus(const Workload& workload) {
  std::vector<JobGroup> groups;
  groups.reserve(kGpuClasses.size());
  for (const GpuClass& gpu_class : kGpuClasses) groups.push_back({.label = gpu_class.label});
  for (const Job& job : workload.jobs) {
    std::size_t at = 0;
    while (job.gpus > kGpuClasses[at].last) ++at;
    CountInto(workload, job, &groups[at]);
  }
  return groups;
}

std::vector<JobGroup> ByOutcome(const Workload& workload) {
  std::vector<JobGroup> groups;
  for (const std::string& name : OutcomeNames()) groups.push_back({.label = name});
  for (const Job& job : workload.jobs)
    CountInto(workload, job, &groups[static_cast<std::size_t>(job.outcome)]);
  std::rotate(groups.begin(), groups.begin() + 1, groups.end());  // "unreported" last
  std::erase_if(groups, [](const JobGroup& group) { return group.jobs == 0; });
  return groups;
}

// "any": jobs that name none. Nothing where no job names one.
std::vector<JobGroup> ByType(const Workload& workload) {
  std::vector<JobGroup> groups(workload.gpu_types.size() + 1);
  groups.back().label = "any";
  for (std::size_t type = 0; type + 1 < groups.size(); ++type) {
    groups[type].label = workload.gpu_types.names()[type];
  }
  for (const Job& job : workload.jobs) {
    CountInto(
        workload, job,
        job.gpu_types < 0 ? &groups.back() : &groups[static_cast<std::size_t>(job.gpu_types)]);
  }
  if (groups.back().jobs == static_cast<std::int64_t>(workload.jobs.size())) return {};
  std::erase_if(groups, [](const JobGroup& group) { return group.jobs == 0; });
  std::stable_sort(groups.begin(), groups.end(), [](const JobGroup& a, const JobGroup& b) {
    return a.gpu_seconds > b.gpu_seconds;
  });
  return groups;
}

std::array<double, 24> HourOfDay(const Workload& workload) {
  std::array<double, 24> hours{};
  const Seconds shift = static_cast<Seconds>(ParseCalendar(workload.origin).value_or(0));
  for (const Job& job : workload.jobs) {
    const auto hour = static_cast<std::size_t>(std::fmod(job.submit + shift, 86400.0) / 3600.0);
    hours[hour] += 24.0 / static_cast<double>(workload.jobs.size());
  }
  return hours;
}

nlohmann::json ToJson(const Distribution& of) {
  return {{"p5", of.p5},   {"p25", of.p25}, {"p50", of.p50},   {"p75", of.p75}, {"p95", of.p95},
          {"p99", of.p99}, {"max", of.max}, {"mean", of.mean}, {"cv", of.cv}};
}

nlohmann::json ToJson(const std::vector<JobGroup>& groups) {
  nlohmann::json list = nlohmann::json::array();
  for (const JobGroup& group : groups) {
    list.push_back({{"label", group.label},
                    {"jobs", group.jobs},
                    {"job_share", group.job_share},
                    {"gpu_seconds", group.gpu_seconds},
                    {"gpu_time_share", group.gpu_time_share}});
  }
  return list;
}

}  // namespace

GpuCount MostGpusAtOnce(const Workload& workload) {
  std::vector<std::pair<Seconds, GpuCount>> changes;
  for (const Job& job : workload.jobs) {
    const Seconds start = job.recorded_start();
    if (std::isnan(start)) continue;
    changes.emplace_back(start, job.gpus);
    changes.emplace_back(start + workload.RecordedRunTime(job), -job.gpus);
  }
  std::sort(changes.begin(), changes.end());  // of one time, those that end come first
  GpuCount held = 0;
  GpuCount most = 0;
  for (const auto& [time, gpus] : changes) most = std::max(most, held += gpus);
  return most;
}

TraceStats ComputeTraceStats(const Workload& workload) {
  TraceStats stats;
  stats.name = workload.name;
  stats.origin = workload.origin;
  stats.jobs = static_cast<std::int64_t>(workload.jobs.size());
  stats.span = workload.Span();
  stats.tenants = static_cast<std::int64_t>(workload.tenants.size());
  stats.users = static_cast<std::int64_t>(workload.users.size());
  stats.models = static_cast<std::int64_t>(workload.models.size());
  if (workload.jobs.empty()) return stats;

  const auto count = static_cast<double>(stats.jobs);
  stats.gpu_hours = workload.GpuSeconds() / 3600;
  stats.offered_gpus = OfferedLoad(workload, 1);
  if (stats.span > 0) stats.arrivals_per_hour = (count - 1) / (stats.span / 3600);

  std::vector<double> durations, gaps, waits;
  double gpus = 0;
  const Job* previous = nullptr;
  for (const Job& job : workload.jobs) {
    if (job.ended()) durations.push_back(job.duration);
    if (previous != nullptr) gaps.push_back(job.submit - previous->submit);
    previous = &job;
    if (job.recorded_wait >= 0) waits.push_back(job.recorded_wait);
    gpus += job.gpus;
    stats.max_gpus = std::max(stats.max_gpus, job.gpus);
  }
  stats.mean_gpus = gpus / count;
  stats.duration = Summarise(std::move(durations));
  stats.gap = Summarise(std::move(gaps));
  stats.waits = static_cast<std::int64_t>(waits.size());
  stats.recorded_wait = Summarise(std::move(waits));
  stats.by_gpus = ByGpus(workload);
  stats.by_outcome = ByOutcome(workload);
  stats.by_type = ByType(workload);
  SetShares(count, workload.GpuSeconds(), &stats.by_gpus);
  SetShares(count, workload.GpuSeconds(), &stats.by_outcome);
  SetShares(count, workload.GpuSeconds(), &stats.by_type);
  stats.limits = CountTimeLimits(workload);
  stats.most_at_once = MostGpusAtOnce(workload);
  stats.hour_of_day = HourOfDay(workload);
  return stats;
}

void to_json(nlohmann::json& json, const TraceStats& stats) {
  json = {{"name", stats.name},
          {"origin", stats.origin},
          {"jobs", stats.jobs},
          {"span_s", stats.span},
          {"gpu_hours", stats.gpu_hours},
          {"arrivals_per_hour", stats.arrivals_per_hour},
          {"offered_gpus", stats.offered_gpus},
          {"mean_gpus", stats.mean_gpus},
          {"max_gpus", stats.max_gpus},
          {"most_gpus_at_once", stats.most_at_once},
          {"tenants", stats.tenants},
          {"users", stats.users},
          {"models", stats.models},
          {"duration_s", ToJson(stats.duration)},
          {"gap_s", ToJson(stats.gap)},
          {"by_gpus", ToJson(stats.by_gpus)},
          {"by_outcome", ToJson(stats.by_outcome)},
          {"hour_of_day", stats.hour_of_day}};
  if (stats.limits.limited > 0) {
    json["time_limits"] = {{"jobs", stats.limits.limited}, {"outlived", stats.limits.outlived}};
  }
  if (!stats.by_type.empty()) json["by_gpu_type"] = ToJson(stats.by_type);
  if (stats.waits > 0) {
    json["recorded_wait_s"] = ToJson(stats.recorded_wait);
    json["recorded_wait_s"]["jobs"] = stats.waits;
  }
}

void to_json(nlohmann::json& json, const ReadReport& report) {
  const auto list = [](const std::vector<DropCount>& counts) {
    nlohmann::json result = nlohmann::json::array();
    for (const DropCount& count : counts) {
      result.push_back({{"reason", count.reason}, {"rows", count.rows}, {"first", count.example}});
      if (count.gpu_hours > 0) result.back()["gpu_hours"] = count.gpu_hours;
    }
    return result;
  };
  json = {{"format", report.format},
          {"rows", report.rows},
          {"dropped", list(report.LargestDrops())},
          {"adjusted", list(report.adjusted)}};
  if (!report.notes.empty()) json["notes"] = report.notes;
  if (!report.clipped.empty()) json["clipped"] = list(report.clipped);
  if (report.columns.empty()) return;
  json["columns"] = report.columns;
  json["ignored_columns"] = report.ignored_columns;
  json["encoding"] = report.encoding;
}

}  // namespace allot
