#pragma once
// One run in one line of numbers: what summary.json holds. Made from a cluster's records after the
// run; the commands print it, evaluation.h collects it. Formulas: docs/formats/results.md.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/job_record.h"
#include "metrics/service.h"
#include "metrics/type_use.h"

namespace allot {

// A figure that cannot be known (no job finished, decisions not timed) is kUnknown, null in JSON.
struct RunSummary {
  std::string policy;
  std::int64_t jobs = 0;        // submitted
  double avg_jct_s = kUnknown;  // over finished jobs, as are the quantiles (type 7, quantile.h)
  double p50_jct_s = kUnknown;
  double p95_jct_s = kUnknown;
  double p99_jct_s = kUnknown;
  double makespan_s = kUnknown;       // last finish - first submit
  double gpu_utilisation = kUnknown;  // GPU-seconds held / (GPUs x time), 0..1
  std::int64_t decisions = 0;
  double decision_us_p50 = kUnknown;
  double decision_us_p99 = kUnknown;
  double cpu_s = kUnknown;  // of the process, for this run
  double wall_s = kUnknown;

  bool oracle = false;  // the policy used true lengths
  std::int64_t unfinished = 0;
  // Why the run ended before its jobs had: its policy let no job progress. No JCT is known then.
  std::optional<std::string> did_not_finish{};
  GpuCount gpus = 0;  // of the cluster
  double gpu_seconds = 0;
  double avg_queueing_s = kUnknown;  // first start - submit, over started jobs
  std::int64_t preemptions = 0;
  std::int64_t node_stops = 0;  // of the preemptions: a node of the job went down
  std::int64_t evictions = 0;   // of the preemptions: a node of the job was called back
  std::int64_t restarts = 0;
  std::int64_t node_shrinks = 0;  // of the restarts: a node of the job went down, it kept the rest
  std::optional<LostGpuSeconds> lost{};     // by all jobs; where nodes fail or checkpoints cost
  std::optional<StartFigures> starts{};     // by all jobs; where nodes fail jobs that start there
  std::optional<LendingFigures> lending{};  // where services lend GPUs
  double node_hours = kUnknown;             // of nodes that were there, first submit to last finish
  double cost = kUnknown;                   // of these; unknown where nodes have no price
  std::optional<ServiceSummary> service{};  // where the workload was known
  std::vector<TypeUse> types{};             // where the cluster has several GPU types
  std::vector<std::pair<std::string, std::string>> notes{};  // what the policy says of itself

  bool operator==(const RunSummary&) const = default;
};

// What a run leaves behind. Spans need only live for the call.
struct RunFacts {
  std::string policy;
  bool oracle = false;
  GpuCount gpus = 0;
  std::span<const JobRecord> records;
  std::span<const TimelinePoint> timeline;
  std::optional<LostGpuSeconds> lost{};
  std::optional<StartFigures> starts{};
  std::optional<LendingFigures> lending{};
  std::optional<TrackedJobs> tracked{};  // only these are counted; utilisation is that of the
                                         // cluster from their first submit to their last finish
  std::optional<std::string> did_not_finish{};  // as RunSummary
  std::int64_t decisions = 0;
  std::span<const float> decision_us;
  double cpu_s = kUnknown;
  double wall_s = kUnknown;
  double node_price = 0;                      // of a node for an hour; 0: none
  const Workload* workload = nullptr;         // for RunSummary::service
  std::span<const Seconds> even_durations{};  // by job, as SummariseService
  AloneTime alone{};                          // likewise
  std::vector<std::pair<std::string, std::string>> notes{};
};

RunSummary Summarise(const RunFacts& facts);

// Keys in the order of the struct: first the contract's, then the additional ones.
nlohmann::ordered_json ToJson(const RunSummary& summary);

// DataError naming `where` (a path) and the key when one of the contract's keys is missing or has
// the wrong type; the additional ones may be absent.
RunSummary SummaryFromJson(const nlohmann::ordered_json& json, std::string_view where);

}  // namespace allot
