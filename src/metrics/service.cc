#include "metrics/service.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/index.h"
#include "metrics/json_field.h"
#include "metrics/quantile.h"

namespace allot {
namespace {

constexpr Seconds kSlowdownThreshold = 10;
constexpr double kShortShare = 0.95;

struct Mean {
  double sum = 0;
  std::int64_t count = 0;
  void Add(double value) {
    sum += value;
    ++count;
  }
  double value() const { return count > 0 ? sum / static_cast<double>(count) : kUnknown; }
};

// The number of unfinished jobs over time, integrated.
class Contention {
 public:
  explicit Contention(std::span<const JobRecord> records) {
    std::vector<std::pair<Seconds, int>> events;
    events.reserve(2 * records.size());
    for (const JobRecord& record : records) events.emplace_back(record.submit, 1);
    const auto ends = static_cast<std::ptrdiff_t>(events.size());
    for (const JobRecord& record : records) {
      if (record.finish != kNever) events.emplace_back(record.finish, -1);
    }
    std::sort(events.begin() + ends, events.end());
    if (std::is_sorted(events.begin(), events.begin() + ends)) {  // as they mostly come
      std::inplace_merge(events.begin(), events.begin() + ends, events.end());
    } else {
      std::sort(events.begin(), events.end());
    }
    times_.reserve(events.size());
    integrals_.reserve(events.size());
    double integral = 0;
    std::int64_t active = 0;
    for (const auto& [time, change] : events) {
      if (!times_.empty()) integral += static_cast<double>(active) * (time - times_.back());
      active += change;
      times_.push_back(time);
      integrals_.push_back(integral);
    }
  }

  // Mean over [from, to], two times of events, from < to.
  double MeanOver(Seconds from, Seconds to) const { return (At(to) - At(from)) / (to - from); }

 private:
  double At(Seconds time) const {
    const auto found = std::lower_bound(times_.begin(), times_.end(), time);
    return integrals_[static_cast<std::size_t>(found - times_.begin())];
  }
  std::vector<Seconds> times_;
  std::vector<double> integrals_;
};

const Job& JobOf(const Workload& workload, const JobRecord& record) {
  return workload.jobs[static_cast<std::size_t>(record.job)];
}

double ShortJct(const Workload& workload, std::span<const JobRecord> counted) {
  std::vector<const JobRecord*> by_length;
  for (const JobRecord& record : counted) by_length.push_back(&record);
  std::sort(by_length.begin(), by_length.end(), [&](const JobRecord* a, const JobRecord* b) {
    const Seconds x = JobOf(workload, *a).duration;
    const Seconds y = JobOf(workload, *b).duration;
    return x != y ? x < y : a->job < b->job;
  });
  by_length.resize(
      static_cast<std::size_t>(std::ceil(kShortShare * static_cast<double>(by_length.size()))));
  Mean jct;
  for (const JobRecord* record : by_length) {
    if (record->finish != kNever) jct.Add(record->finish - record->submit);
  }
  return jct.value();
}

// Sums of one group of jobs.
struct Group {
  std::int64_t jobs = 0;
  double gpu_seconds = 0;
  Mean jct;
  Mean fairness;
};

}  // namespace

std::vector<double> FinishTimeFairness(const Workload& workload, GpuCount gpus,
                                       std::span<const JobRecord> all,
                                       std::span<const JobRecord> counted,
                                       std::span<const Seconds> durations,
                                       const AloneTime& alone_on) {
  const Contention contention(all);
  std::vector<double> rhos;
  rhos.reserve(counted.size());
  for (const JobRecord& record : counted) {
    if (record.finish == kNever) {
      rhos.push_back(kUnknown);
      continue;
    }
    const Job& job = JobOf(workload, record);
    const Seconds jct = record.finish - record.submit;
    const double jobs = jct > 0 ? contention.MeanOver(record.submit, record.finish) : 1;
    const Seconds played = alone_on ? alone_on(record.job, gpus / jobs) : kUnknown;
    if (played > 0) {
      rhos.push_back(jct / played);
      continue;
    }
    const Seconds alone = durations.empty() ? job.duration : durations[At(record.job)];
    rhos.push_back(jct / (alone * std::max(1.0, job.gpus * jobs / gpus)));
  }
  return rhos;
}

ServiceSummary SummariseService(const Workload& workload, GpuCount gpus,
                                std::span<const JobRecord> all, std::span<const JobRecord> counted,
                                std::span<const Seconds> durations, const AloneTime& alone) {
  ServiceSummary s;
  const std::vector<double> rho_of =
      FinishTimeFairness(workload, gpus, all, counted, durations, alone);
  s.played = alone && std::any_of(counted.begin(), counted.end(), [&](const JobRecord& record) {
               return alone(record.job, 1) > 0;
             });
  Mean slowdown;
  Mean fairness;
  std::vector<double> rhos;
  double gpu_seconds = 0;
  std::map<std::int32_t, Group> tenants;
  std::map<double, Group> priorities;
  for (std::size_t i = 0; i < counted.size(); ++i) {
    const JobRecord& record = counted[i];
    const Job& job = JobOf(workload, record);
    Group& tenant = tenants[job.tenant];
    Group& priority = priorities[job.priority];
    ++tenant.jobs;
    ++priority.jobs;
    tenant.gpu_seconds += record.gpu_seconds;
    gpu_seconds += record.gpu_seconds;
    if (job.deadline != kNever) {
      ++s.deadlines;
      if (record.finish > job.deadline) ++s.missed_deadlines;  // never is later
    }
    if (record.finish == kNever) continue;
    const Seconds jct = record.finish - record.submit;
    slowdown.Add(std::max(1.0, jct / std::max(job.duration, kSlowdownThreshold)));
    const double rho = rho_of[i];
    rhos.push_back(rho);
    fairness.Add(rho);
    tenant.jct.Add(jct);
    tenant.fairness.Add(rho);
    priority.jct.Add(jct);
  }
  s.avg_bounded_slowdown = slowdown.value();
  s.avg_jct_short95_s = ShortJct(workload, counted);
  s.avg_fairness = fairness.value();
  std::sort(rhos.begin(), rhos.end());
  s.p95_fairness = Quantile<double>(rhos, 0.95);
  s.p99_fairness = Quantile<double>(rhos, 0.99);
  if (!rhos.empty()) {
    s.worst_fairness = rhos.back();
    const auto unfair = rhos.end() - std::upper_bound(rhos.begin(), rhos.end(), 1.0);
    s.unfair_share = static_cast<double>(unfair) / static_cast<double>(rhos.size());
  }
  if (tenants.size() > 1 || (tenants.size() == 1 && tenants.begin()->first >= 0)) {
    for (const auto& [index, group] : tenants) {
      s.tenants.push_back({workload.tenants[index], group.jobs,
                           gpu_seconds > 0 ? group.gpu_seconds / gpu_seconds : kUnknown,
                           group.jct.value(), group.fairness.value()});
    }
  }
  if (priorities.size() > 1) {
    for (const auto& [level, group] : priorities) {
      s.priorities.push_back({level, group.jobs, group.jct.value()});
    }
  }
  return s;
}

nlohmann::ordered_json ToJson(const ServiceSummary& s) {
  Json json;
  json["avg_bounded_slowdown"] = NumberOrNull(s.avg_bounded_slowdown);
  json["avg_jct_short95_s"] = NumberOrNull(s.avg_jct_short95_s);
  json["avg_fairness"] = NumberOrNull(s.avg_fairness);
  json["p95_fairness"] = NumberOrNull(s.p95_fairness);
  json["p99_fairness"] = NumberOrNull(s.p99_fairness);
  json["worst_fairness"] = NumberOrNull(s.worst_fairness);
  json["unfair_share"] = NumberOrNull(s.unfair_share);
  if (s.played) json["played"] = true;
  json["deadlines"] = s.deadlines;
  json["missed_deadlines"] = s.missed_deadlines;
  json["tenants"] = Json::array();
  for (const TenantService& tenant : s.tenants) {
    json["tenants"].push_back({{"tenant", tenant.tenant},
                               {"jobs", tenant.jobs},
                               {"gpu_share", NumberOrNull(tenant.gpu_share)},
                               {"avg_jct_s", NumberOrNull(tenant.avg_jct_s)},
                               {"avg_fairness", NumberOrNull(tenant.avg_fairness)}});
  }
  json["priorities"] = Json::array();
  for (const PriorityService& level : s.priorities) {
    json["priorities"].push_back({{"priority", level.priority},
                                  {"jobs", level.jobs},
                                  {"avg_jct_s", NumberOrNull(level.avg_jct_s)}});
  }
  return json;
}

ServiceSummary ServiceFromJson(const nlohmann::ordered_json& json, std::string_view where) {
  ServiceSummary s;
  s.avg_bounded_slowdown = RequireNumber(json, "avg_bounded_slowdown", where);
  s.avg_jct_short95_s = RequireNumber(json, "avg_jct_short95_s", where);
  s.avg_fairness = RequireNumber(json, "avg_fairness", where);
  s.p95_fairness = RequireNumber(json, "p95_fairness", where);
  // Runs of before have none.
  if (json.contains("p99_fairness")) s.p99_fairness = RequireNumber(json, "p99_fairness", where);
  s.worst_fairness = RequireNumber(json, "worst_fairness", where);
  s.unfair_share = RequireNumber(json, "unfair_share", where);
  s.played = json.contains("played") && json["played"] == true;
  s.deadlines = RequireInteger(json, "deadlines", where);
  s.missed_deadlines = RequireInteger(json, "missed_deadlines", where);
  for (const Json& tenant : RequireList(json, "tenants", where)) {
    s.tenants.push_back(
        {RequireText(tenant, "tenant", where), RequireInteger(tenant, "jobs", where),
         RequireNumber(tenant, "gpu_share", where), RequireNumber(tenant, "avg_jct_s", where),
         RequireNumber(tenant, "avg_fairness", where)});
  }
  for (const Json& level : RequireList(json, "priorities", where)) {
    s.priorities.push_back({RequireNumber(level, "priority", where),
                            RequireInteger(level, "jobs", where),
                            RequireNumber(level, "avg_jct_s", where)});
  }
  return s;
}

}  // namespace allot
