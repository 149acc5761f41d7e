#pragma once
// How the users of a cluster were served: slowdown, fairness, deadlines, tenants and priorities.
// Needs the workload beside a run's records; part of RunSummary. Keys: docs/formats/results.md.
//
// Finish-time fairness is Themis' (Mahajan et al., NSDI'20) for single jobs:
//   rho_i = (finish_i - submit_i) / T_i,   T_i = d_i max(1, g_i N_i / G)
// T_i is the time that job i would take alone on its 1/N_i of the cluster: d_i its run time at the
// g_i GPUs that it asks for, stretched where G / N_i of the G GPUs are fewer; N_i the number of
// unfinished jobs, itself included, averaged from its submission to its end. On a cluster of
// several GPU types d_i is its run time at the mean of its rates over all GPUs: 1/N_i of each type
// (Gavel, OSDI'20, section 4.2). Of jobs whose batch follows their GPUs T_i is played
// (sim/alone_times.h). Above 1 the job would have been better off with a share of its
// own. Bounded slowdown (Feitelson and Rudolph, JSSPP'98) of job i is max(1, (finish_i - submit_i)
// / max(d_i, 10 s)).

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/job_record.h"
#include "workload/workload.h"

namespace allot {

struct TenantService {
  std::string tenant;  // "" for jobs without one
  std::int64_t jobs = 0;
  double gpu_share = kUnknown;  // of the GPU time that jobs held, 0..1
  double avg_jct_s = kUnknown;  // over finished jobs, as all means and quantiles here
  double avg_fairness = kUnknown;
  bool operator==(const TenantService&) const = default;
};

struct PriorityService {
  double priority = 0;
  std::int64_t jobs = 0;
  double avg_jct_s = kUnknown;
  bool operator==(const PriorityService&) const = default;
};

struct ServiceSummary {
  double avg_bounded_slowdown = kUnknown;
  double avg_jct_short95_s = kUnknown;  // of the ceil(95 %) of the jobs with the shortest run times
  double avg_fairness = kUnknown;       // of rho
  double p95_fairness = kUnknown;
  double p99_fairness = kUnknown;
  double worst_fairness = kUnknown;
  double unfair_share = kUnknown;           // of jobs with rho > 1
  bool played = false;                      // T_i of jobs was played (AloneTime)
  std::int64_t deadlines = 0;               // jobs that have one
  std::int64_t missed_deadlines = 0;        // ended later, or not at all
  std::vector<TenantService> tenants;       // in the workload's order; none: no job has one
  std::vector<PriorityService> priorities;  // ascending; none: all jobs have the same
  bool operator==(const ServiceSummary&) const = default;

  bool by_user() const {
    return deadlines > 0 || !tenants.empty() || !priorities.empty() || played;
  }
};

// T_i on so many GPUs, not whole ones: G / N_i; kUnknown: as above.
using AloneTime = std::function<Seconds(JobIndex, double gpus)>;

// `all` jobs compete, `counted` ones are measured. Records name their job in the workload.
// `durations`: d_i of rho by job of the workload; empty: its run times.
ServiceSummary SummariseService(const Workload& workload, GpuCount gpus,
                                std::span<const JobRecord> all, std::span<const JobRecord> counted,
                                std::span<const Seconds> durations = {},
                                const AloneTime& alone = nullptr);

// rho of each of the counted jobs, kUnknown where it did not end.
std::vector<double> FinishTimeFairness(const Workload& workload, GpuCount gpus,
                                       std::span<const JobRecord> all,
                                       std::span<const JobRecord> counted,
                                       std::span<const Seconds> durations = {},
                                       const AloneTime& alone = nullptr);

nlohmann::ordered_json ToJson(const ServiceSummary& service);
ServiceSummary ServiceFromJson(const nlohmann::ordered_json& json, std::string_view where);

}  // namespace allot
