#include "metrics/service_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "metrics/humanise.h"

namespace allot {
namespace {

// Means over the runs that know the figure.
double MeanOfService(const std::vector<RunSummary>& runs, double ServiceSummary::*figure) {
  double sum = 0;
  int known = 0;
  for (const RunSummary& run : runs) {
    if (!run.service || std::isnan((*run.service).*figure)) continue;
    sum += (*run.service).*figure;
    ++known;
  }
  return known > 0 ? sum / known : kUnknown;
}

// The tenant whose jobs were served worst on average, over all runs: "vc1 1.71".
std::string WorstTenant(const std::vector<RunSummary>& runs) {
  const TenantService* worst = nullptr;
  for (const RunSummary& run : runs) {
    if (!run.service) continue;
    for (const TenantService& tenant : run.service->tenants) {
      if (tenant.tenant.empty() || std::isnan(tenant.avg_fairness)) continue;
      if (worst == nullptr || tenant.avg_fairness > worst->avg_fairness) worst = &tenant;
    }
  }
  if (worst == nullptr) return "-";
  return fmt::format("{} {}", worst->tenant, HumanFixed(worst->avg_fairness, 2));
}

double TopPriorityJct(const std::vector<RunSummary>& runs) {
  double sum = 0;
  int known = 0;
  for (const RunSummary& run : runs) {
    if (!run.service || run.service->priorities.empty()) continue;
    sum += run.service->priorities.back().avg_jct_s;
    ++known;
  }
  return known > 0 ? sum / known : kUnknown;
}

std::map<std::string, std::int64_t> JobsByTenant(const std::vector<RunSummary>& runs) {
  std::map<std::string, std::int64_t> jobs;
  for (const RunSummary& run : runs) {
    if (!run.service) continue;
    for (const TenantService& tenant : run.service->tenants) jobs[tenant.tenant] += tenant.jobs;
  }
  return jobs;
}

// Mean over the runs in which the tenant has jobs.
double MeanOfTenant(const std::vector<RunSummary>& runs, const std::string& name,
                    double TenantService::*figure) {
  double sum = 0;
  int known = 0;
  for (const RunSummary& run : runs) {
    if (!run.service) continue;
    for (const TenantService& tenant : run.service->tenants) {
      if (tenant.tenant != name || std::isnan(tenant.*figure)) continue;
      sum += tenant.*figure;
      ++known;
    }
  }
  return known > 0 ? sum / known : kUnknown;
}

template <typename Has>
bool AnyService(const Evaluation& evaluation, Has has) {
  for (const EvaluatedPolicy& policy : evaluation.policies) {
    for (const RunSummary& run : policy.runs) {
      if (run.service && has(*run.service)) return true;
    }
  }
  return false;
}

}  // namespace

bool HasService(const Evaluation& evaluation) {
  return AnyService(evaluation, [](const ServiceSummary&) { return true; });
}

bool ServedByUser(const Evaluation& evaluation) {
  return AnyService(evaluation, [](const ServiceSummary& s) { return s.by_user(); });
}

TextTable ServiceTable(const Evaluation& evaluation, const std::vector<PolicyRow>& rows) {
  const bool tenants = HasTenants(evaluation);
  const bool priorities =
      AnyService(evaluation, [](const ServiceSummary& s) { return !s.priorities.empty(); });
  const bool deadlines =
      AnyService(evaluation, [](const ServiceSummary& s) { return s.deadlines > 0; });

  std::vector<TextTable::Column> columns = {{"policy", TextTable::Align::kLeft},
                                            {"bounded slowdown"},
                                            {"JCT of 95 % shortest"},
                                            {"mean rho"},
                                            {"p95 rho"},
                                            {"worst rho"},
                                            {"rho > 1"}};
  if (tenants) columns.push_back({"worst tenant, its rho"});
  if (priorities) columns.push_back({"JCT of top priority"});
  if (deadlines) columns.push_back({"missed deadlines"});
  TextTable table(std::move(columns));
  for (const PolicyRow& row : rows) {
    const std::vector<RunSummary>& runs = evaluation.policies[row.policy].runs;
    std::vector<std::string> cells = {
        row.name,
        HumanFixed(MeanOfService(runs, &ServiceSummary::avg_bounded_slowdown), 2),
        HumanDuration(MeanOfService(runs, &ServiceSummary::avg_jct_short95_s)),
        HumanFixed(MeanOfService(runs, &ServiceSummary::avg_fairness), 2),
        HumanFixed(MeanOfService(runs, &ServiceSummary::p95_fairness), 2),
        HumanFixed(MeanOfService(runs, &ServiceSummary::worst_fairness), 2),
        HumanShare(MeanOfService(runs, &ServiceSummary::unfair_share))};
    if (tenants) cells.push_back(WorstTenant(runs));
    if (priorities) cells.push_back(HumanDuration(TopPriorityJct(runs)));
    if (deadlines) {
      std::int64_t with = 0;
      std::int64_t missed = 0;
      for (const RunSummary& run : runs) {
        if (!run.service) continue;
        with += run.service->deadlines;
        missed += run.service->missed_deadlines;
      }
      cells.push_back(
          fmt::format("{} of {} ({})", HumanCount(missed), HumanCount(with),
                      HumanShare(static_cast<double>(missed) / static_cast<double>(with))));
    }
    table.AddRow(std::move(cells), row.reference ? '>' : ' ');
  }
  table.AddNote(
      "rho: finish-time fairness, JCT / time alone on 1/N of the cluster; above 1: unfair.");
  return table;
}

bool HasTenants(const Evaluation& evaluation) {
  return AnyService(evaluation, [](const ServiceSummary& s) { return !s.tenants.empty(); });
}

TextTable TenantTable(const Evaluation& evaluation, const std::vector<PolicyRow>& rows) {
  constexpr std::size_t kMost = 12;
  std::map<std::string, std::int64_t> jobs;
  for (const EvaluatedPolicy& policy : evaluation.policies) {
    if (jobs.empty()) jobs = JobsByTenant(policy.runs);
  }
  std::vector<std::pair<std::int64_t, std::string>> tenants;
  tenants.reserve(jobs.size());
  for (const auto& [tenant, count] : jobs) tenants.emplace_back(-count, tenant);
  std::sort(tenants.begin(), tenants.end());

  std::vector<TextTable::Column> columns = {{"tenant", TextTable::Align::kLeft}, {"jobs"}};
  for (const PolicyRow& row : rows) columns.push_back({row.name});
  TextTable table(std::move(columns));
  for (std::size_t t = 0; t < std::min(kMost, tenants.size()); ++t) {
    const std::string& tenant = tenants[t].second;
    std::vector<std::string> cells = {tenant.empty() ? "(none)" : tenant,
                                      HumanCount(-tenants[t].first)};
    for (const PolicyRow& row : rows) {
      const std::vector<RunSummary>& runs = evaluation.policies[row.policy].runs;
      cells.push_back(
          fmt::format("{}, {}", HumanShare(MeanOfTenant(runs, tenant, &TenantService::gpu_share)),
                      HumanFixed(MeanOfTenant(runs, tenant, &TenantService::avg_fairness), 2)));
    }
    table.AddRow(std::move(cells));
  }
  table.AddNote("Share of the GPU time that jobs held, mean rho (finish-time fairness).");
  if (tenants.size() > kMost) {
    table.AddNote(fmt::format("{} tenants of fewer jobs are in evaluation.json.",
                              HumanCount(static_cast<std::int64_t>(tenants.size() - kMost))));
  }
  return table;
}

}  // namespace allot
