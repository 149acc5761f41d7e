#pragma once
// What would change on a cluster: the record of its trace, the present policy simulated, and the
// alternatives, as figures over all jobs, users and partitions; as text, JSON and the beginning of
// a report. Made by experiment/whatif/whatif.h. Keys: docs/formats/results.md.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.h"
#include "metrics/table.h"
#include "perf/load_by_type.h"
#include "workload/trace_reader.h"

namespace allot {

// Jobs of a user or a partition, and their mean waits.
struct WhatIfGroup {
  std::string name;  // "" for jobs without one
  std::int64_t jobs = 0;
  double gpu_hours = 0;             // requested GPUs x run time in the trace
  std::vector<double> avg_wait_s;   // by scene; kUnknown where no job of the group has started
  std::vector<double> avg_jct_s{};  // by scene
};

// One way in which the jobs could have been served.
struct WhatIfScene {
  enum class Kind { kRecorded, kPresent, kPolicy, kNodes, kElastic, kElasticShare };
  Kind kind = Kind::kPolicy;
  std::string title;      // "recorded", "easy, 10 more nodes"
  std::string policy;     // spec; "" of the record
  std::string name{};     // of the policy in the title: its label, or the spec; "" of the record
  std::string cluster;    // spec; "" of the record: whatever it was
  bool oracle = false;    // the policy used true lengths
  std::int64_t jobs = 0;  // with a known wait
  // Time without GPUs: before the first start and, where a policy stops jobs, later; of elastic
  // jobs before the first start.
  double avg_wait_s = kUnknown;
  double p50_wait_s = kUnknown;
  double p95_wait_s = kUnknown;
  double max_wait_s = kUnknown;
  double avg_jct_s = kUnknown;  // from submission to the end
  // Its waits beside those of the record, job by job; kUnknown: nothing is recorded, or another
  // cluster is simulated.
  double wait_rank_correlation = kUnknown;  // Spearman's
  double wait_error_s = kUnknown;           // median of the absolute differences
  double gpu_utilisation = kUnknown;
  double preemptions_per_job = kUnknown;
  double node_stops_per_job = 0;  // of these: a node of the job went down
  std::int64_t unfinished = 0;
  std::int64_t more_jobs = 0;  // that the present cluster has no room for; in no figure
};

// How many nodes make the mean wait at most so long.
struct WhatIfTarget {
  Seconds wait_s = 0;
  std::optional<std::int64_t> nodes{};  // the smallest number; none: not even the most reach it
  std::int64_t most_tried = 0;
  double reached_wait_s = kUnknown;   // with these nodes, or with the most
  double one_less_wait_s = kUnknown;  // with one node less
};

// A user whose jobs could become elastic.
struct ElasticUser {
  std::string name;
  std::int64_t jobs = 0;
  double gpu_share = 0;  // of the GPU time of all jobs
  Seconds saved_s = 0;   // of the mean completion time of all jobs, beside the users before
};

struct WhatIf {
  std::string workload;
  std::string origin;  // calendar time of submit 0; "" if unknown
  std::int64_t jobs = 0;
  std::int64_t running = 0;  // of these, when the record was taken
  std::int64_t pending = 0;  // likewise
  double gpu_hours = 0;      // of the record, of these jobs
  // Of jobs that are left out: the cluster has no type that they accept.
  std::vector<LackingType> lacking_types{};
  DropCount without_room{};   // left out: it has fewer GPUs, or less GPU memory, than they ask
  DropCount without_hosts{};  // left out: its nodes have less host memory or CPUs
  Seconds span = 0;
  std::string cluster;
  std::string cluster_in_words{};
  std::string added_nodes{};  // in words; "" for none
  GpuCount gpus = 0;
  GpuCount most_gpus_at_once = 0;        // in the record, whatever the cluster; 0: unknown
  std::vector<DropCount> left_out{};     // records of the file, those of most GPU time first
  double load = kUnknown;                // offered, of the present cluster
  std::vector<TypeLoad> loads{};         // by GPU type of it; none: it has one type
  std::optional<WhatIfTarget> target{};  // where one was asked for
  std::string length_estimates;          // that the policies had
  std::string node_events{};             // what nodes that go down mean; "": all stay
  std::vector<WhatIfScene> scenes;
  std::vector<WhatIfGroup> users;  // of most GPU time first; none: the trace names none
  std::vector<WhatIfGroup> partitions;
  std::vector<WhatIfGroup> types{};  // GPU types that jobs ask for, where the cluster has several
  std::vector<ElasticUser> elastic_first{};  // in the order of the search; none: not asked for
  std::vector<std::string> notes;            // what was not simulated, and why
  std::vector<std::pair<std::string, std::string>> policies{};  // id, what it does
  nlohmann::ordered_json read;            // what reading the trace left out (trace_stats.h)
  nlohmann::ordered_json cluster_read{};  // likewise of the cluster; null where it is no file
  std::string command;
};

inline constexpr std::string_view kWhatIfKinds[] = {"recorded", "present", "policy",
                                                    "nodes",    "elastic", "elastic share"};

// nullptr where there is none of that kind.
const WhatIfScene* SceneOf(const WhatIf& what_if, WhatIfScene::Kind kind);

// Sentences: who waits how long, what changes most, how near the simulation is to the record.
std::vector<std::string> WhatIfFindings(const WhatIf& what_if);

TextTable WhatIfTable(const WhatIf& what_if);
// Whose jobs to make elastic first.
TextTable ElasticFirstTable(const WhatIf& what_if);
// `what` heads the first column. At most 15 groups; a note counts the others.
TextTable WhatIfGroupTable(const WhatIf& what_if, const std::vector<WhatIfGroup>& groups,
                           const std::string& what);

std::string WhatIfText(const WhatIf& what_if);
nlohmann::ordered_json ToJson(const WhatIf& what_if);

// For ReportInput: the head of the page, and the sections before the evaluations.
std::string WhatIfHeadline(const WhatIf& what_if);
std::string WhatIfSections(const WhatIf& what_if);

}  // namespace allot
