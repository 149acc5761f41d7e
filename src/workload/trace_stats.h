#pragma once
// What a workload looks like, in the figures by which GPU-cluster papers describe their traces. For
// `allot trace inspect`, as JSON; as text: workload/trace_stats_text.h.

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "workload/time_limits.h"
#include "workload/trace_reader.h"
#include "workload/workload.h"

namespace allot {

// Interpolated between order statistics (type 7 of Hyndman & Fan 1996, numpy's default); NaN of
// nothing.
struct Distribution {
  double p5 = kUnknown, p25 = kUnknown, p50 = kUnknown, p75 = kUnknown, p95 = kUnknown,
         p99 = kUnknown;
  double max = kUnknown, mean = kUnknown;
  double cv = kUnknown;  // standard deviation / mean
};

struct JobGroup {
  std::string label;  // "3-4" GPUs, "passed"
  std::int64_t jobs = 0;
  double job_share = 0;
  double gpu_seconds = 0;  // gpus x duration
  double gpu_time_share = 0;
};

struct TraceStats {
  std::string name;
  std::string origin;  // calendar time of submit 0, "" if unknown
  std::int64_t jobs = 0;
  Seconds span = 0;                     // last submit - first submit
  double gpu_hours = 0;                 // sum of gpus x duration
  double arrivals_per_hour = kUnknown;  // (jobs - 1) / span
  double offered_gpus =
      kUnknown;          // OfferedLoad on one GPU: kept busy on average without any queueing
  double mean_gpus = 0;  // requested, per job
  GpuCount max_gpus = 0;
  GpuCount most_at_once = 0;  // MostGpusAtOnce
  std::int64_t tenants = 0;   // named ones; 0 = not recorded
  std::int64_t users = 0;
  std::int64_t models = 0;
  Distribution duration;             // seconds
  Distribution gap;                  // seconds between successive submissions
  std::int64_t waits = 0;            // jobs whose wait the trace tells
  Distribution recorded_wait;        // of these, seconds
  std::vector<JobGroup> by_gpus;     // 1, 2, 3-4, 5-8, 9-16, >16; empty classes included
  std::vector<JobGroup> by_outcome;  // those that occur
  std::vector<JobGroup> by_type;     // GPU types that jobs accept, by GPU time; none: not named
  TimeLimits limits{};
  std::array<double, 24> hour_of_day{};  // arrivals relative to the mean hour; by calendar if
                                         // known, otherwise hour 0 is the origin
};

// The most GPUs that jobs held at one time, of those whose start the trace tells; 0: of none.
GpuCount MostGpusAtOnce(const Workload& workload);

TraceStats ComputeTraceStats(const Workload& workload);

void to_json(nlohmann::json& json, const TraceStats& stats);
void to_json(nlohmann::json& json, const ReadReport& report);

}  // namespace allot
