#pragma once
// The records of a journal, one struct for each kind. A record states a change of the daemon's
// state, which LiveState::Apply makes, or it informs people only. Records name jobs and nodes,
// because indices differ between daemons. live/state/records_json.h converts them to JSON and back;
// docs/live.md explains the kinds to operators. Times are seconds of the run unless a field says
// otherwise.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "live/runtimes/runtime.h"
#include "live/state/job_records.h"
#include "live/state/kept_records.h"

namespace allot {
namespace record {

// ---- the run and its nodes ----

struct ServedBy {
  std::int64_t pid = 0;
  std::string runtime;
  std::string policy;
};
struct Serve {  // a daemon begins
  static constexpr Kind kKind = "serve";
  double origin = 0;  // Unix time of the run's time 0
  std::optional<ServedBy> daemon{};
};
struct Nodes {
  static constexpr Kind kKind = "nodes";
  std::vector<RuntimeNode> nodes;
};
// `by`: the user who asked for it; unset: the daemon itself, or a journal that does not tell.
struct Drain {
  static constexpr Kind kKind = "drain";
  std::optional<std::string> node{};  // unset: all
  std::optional<std::string> by{};
};
struct Undrain {
  static constexpr Kind kKind = "undrain";
  std::optional<std::string> node{};  // unset: all, but not nodes that were drained by name
  std::optional<std::string> by{};
};
struct MaintainedNodes {
  static constexpr Kind kKind = "maintenance";
  std::set<std::string> nodes;  // all that are in a window of the operator's rules
};
struct Avoid {  // no worker starts on this node, because it fails those of many jobs
  static constexpr Kind kKind = "avoid";
  std::string node;
  Seconds until = 0;
  double odds = 0;                // to 1, that it is bad
  std::vector<std::string> jobs;  // that failed there
};
struct Readmit {  // workers may start on this node again
  static constexpr Kind kKind = "readmit";
  std::string node;
};
struct NodesBefore {  // what the cluster knew of its nodes when the journal began
  static constexpr Kind kKind = "nodes before";
  double node_seconds = 0;  // as of NodeFailureRate
  double failures = 0;
  std::optional<Seconds> failed_at{};
  std::vector<std::string> repaired;  // not long ago
};
struct Pause {
  static constexpr Kind kKind = "pause";
  std::optional<std::string> by{};
};
struct Resume {
  static constexpr Kind kKind = "resume";
  std::optional<std::string> by{};
};

// ---- for people ----

struct Cancel {  // a user asks for it
  static constexpr Kind kKind = "cancel";
  std::string job;
  std::optional<std::string> by{};
};
struct GiveUp {
  static constexpr Kind kKind = "give up";
  std::string job;
  std::string why;
};
struct Decide {  // what a decision changed: numbers of jobs
  static constexpr Kind kKind = "decide";
  std::int64_t decision = 0;
  std::int32_t launched = 0;
  std::int32_t preempted = 0;
  std::int32_t resized = 0;
  std::int32_t moved = 0;
};
struct Trains {  // the job trains as the last decision wants it
  static constexpr Kind kKind = "trains";
  std::string job;
  std::int64_t epoch = 0;
  std::uint64_t workers = 0;
  std::int64_t step = 0;
  Seconds took = 0;
};
struct TrainsWith {  // the job has another batch
  static constexpr Kind kKind = "trains with";
  std::string job;
  WorkerBatchOrder batch;
  std::int64_t total = 0;  // samples of a step
  double noise = 0;
};
struct Other {  // a kind that this version does not know
  std::string kind;
};

}  // namespace record

using JournalRecord =
    std::variant<record::Serve, record::Nodes, record::Drain, record::Undrain,
                 record::MaintainedNodes, record::Avoid, record::Readmit, record::NodesBefore,
                 record::Pause, record::Resume, record::NewJob, record::Give, record::Placed,
                 record::Take, record::Account, record::Over, record::Retire, record::Start,
                 record::Found, record::Refused, record::Announce, record::Stop, record::Stays,
                 record::Gone, record::Succeeded, record::Rate, record::Batch, record::Noise,
                 record::Timed, record::Renewed, record::Kept, record::LearnedTraining,
                 record::LearnedRates, record::LearnedUsage, record::LearnedWork, record::Counts,
                 record::NodeEvidence, record::JobEvidence, record::UserEvidence, record::Cancel,
                 record::GiveUp, record::Decide, record::Trains, record::TrainsWith, record::Other>;

struct TimedRecord {
  Seconds at = 0;
  JournalRecord record;
};

}  // namespace allot
