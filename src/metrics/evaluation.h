#pragma once
// Several policies on several workloads: what `compare` and `evaluate` write as DIR/evaluation.json
// beside the run directories, and what tables and the report read. Layout and keys:
// docs/formats/results.md.

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/paired.h"
#include "metrics/summary.h"

namespace allot {

struct EvaluatedWorkload {
  std::string name;  // unique; also its folder's name
  std::int64_t jobs = 0;
  double load = kUnknown;  // GPU demand / capacity
  std::uint64_t seed = 0;
  DrawnModels drawn{};            // jobs that got a random throughput profile
  std::int64_t running = 0;       // jobs that had not ended when the record was taken, and ran
  std::int64_t pending = 0;       // likewise, and waited
  std::int64_t limited = 0;       // jobs with a time limit
  std::int64_t fixed_sizes = 0;   // jobs that keep their size as their speed at others is unknown
  double jct_bound_s = kUnknown;  // no policy can have a smaller average JCT; unknown: not computed
  // Which window of the trace it was drawn from; workloads of one window are not independent.
  std::int32_t window = kWindowOfItsOwn;
};

std::vector<std::int32_t> WindowsOf(const std::vector<EvaluatedWorkload>& workloads);

struct EvaluatedPolicy {
  std::string id;                // label or spec as on the command line, unique; its folder's name
  std::string label;             // for people: the id, or a shorter one of this evaluation
  std::string spec{};            // where the id is a name that its user gave; "": the id
  bool oracle = false;           // used true lengths
  bool uses_lengths = false;     // those of Evaluation::length_estimates
  std::vector<RunSummary> runs;  // one per workload, in their order

  const std::string& named_spec() const { return spec.empty() ? id : spec; }
};

// Whether training saw the workloads.
enum class TrainingOverlap { kNone, kUnseen, kSeen, kNotKnown };  // kNone: no policy was trained

struct Evaluation {
  std::string title;  // "Unseen weeks"; may be empty
  TrainingOverlap training_overlap = TrainingOverlap::kNone;
  std::string command;                // repeats it
  std::string cluster;                // spec
  std::string topology{};             // text of Topology::ToString; "": everywhere alike
  std::string length_estimates;       // "noisy:0.5"
  std::string beliefs = "exact";      // what policies were shown of the rates
  std::string progress = "constant";  // how the true rates changed while jobs ran
  bool as_choices = false;            // answers were applied as choices of the environment
  std::string node_events{};          // what nodes that go down mean, a sentence; "": all stay
  std::string autoscale{};            // how nodes came and went; "": all were there always
  Seconds restart_cost_s = 0;
  Seconds launch_cost_s = 0;
  Seconds interval_s = 0;
  bool decide_on_events = false;  // also at arrivals and completions, not only at the interval
  std::string reference;          // id of the policy that the others are compared with
  nlohmann::ordered_json read;    // what reading the trace left out (trace_stats.h); null of a law
  nlohmann::ordered_json cluster_read{};  // likewise of the node list; null where it is no file
  std::vector<EvaluatedWorkload> workloads;
  std::vector<EvaluatedPolicy> policies;
};

nlohmann::ordered_json ToJson(const Evaluation& evaluation);
nlohmann::ordered_json ToJson(const DrawnModels& drawn);

// DataError naming `where`, key and both values: missing keys, no policy or workload, a name used
// twice, a policy without exactly one run per workload, a reference that is not among the policies.
Evaluation EvaluationFromJson(const nlohmann::ordered_json& json, std::string_view where);

// DIR/evaluation.json.
void WriteEvaluation(const std::filesystem::path& directory, const Evaluation& evaluation);
Evaluation ReadEvaluation(const std::filesystem::path& directory);

// Removes an earlier evaluation, if the directory holds a readable one: its evaluation.json and the
// runs that this names, nothing else.
void RemoveEvaluation(const std::filesystem::path& directory);

// Where the run of a policy on a workload lives: DIR/<workload>/<policy>, or DIR/<policy> when
// there is only one workload and no folder of its name.
std::filesystem::path RunDirectory(const std::filesystem::path& directory,
                                   const Evaluation& evaluation, const EvaluatedWorkload& workload,
                                   const EvaluatedPolicy& policy);

}  // namespace allot
