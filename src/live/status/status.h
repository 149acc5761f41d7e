#pragma once
// What a daemon reports of itself, its nodes and its jobs at one moment. The daemon fills it
// (live/daemon/daemon_status.h) and sends it as JSON (live/status/status_json.h); `allot status`,
// `queue`, `top` and `doctor` read it. To add a field: a member here, a row in status_json.cc, a
// line where it is filled, and one on each screen that shows it.
//
// Times are seconds of the run unless they are called Unix times; durations are seconds. A rate is
// in the job's own unit of work per second.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/types.h"
#include "live/status/states.h"

namespace allot {

enum class Drainer : std::uint8_t { kAllot, kCluster };

// Why the daemon believes that a node fails jobs.
struct SuspicionStatus {
  double odds = 0;                  // to 1
  std::vector<std::string> jobs{};  // that accuse it
};

struct NodeStatus {
  std::string name{};
  std::string gpu_type{};
  GpuCount gpus = 0;
  GpuCount worker_gpus = 0;   // occupied by workers, including those that are to leave
  GpuCount foreign_gpus = 0;  // used or reserved by others: not for the daemon to allocate
  bool up = true;             // the runtime can start workers here
  NodeState state = NodeState::kUp;
  std::optional<Drainer> drained_by{};         // set while `state` is kDrained
  std::optional<std::string> why{};            // set while `state` is kAvoided
  std::optional<SuspicionStatus> suspicion{};  // set while jobs accuse it
};

// Numbers by the name of a node or GPU type, in the order of the cluster.
template <typename Number>
using ByName = std::vector<std::pair<std::string, Number>>;

// One training step of a job whose batch follows its workers, in samples.
struct BatchStatus {
  std::int64_t total = 0;  // over all workers and passes
  std::int64_t local = 0;  // of one worker in one pass
  std::int32_t accumulation = 0;
};

// Times that are reached with probability 10, 50 and 90 %; kNever: after ForecastStatus::until.
using ForecastTimes = std::array<Seconds, 3>;

struct ForecastStatus {
  Seconds made = 0;
  Seconds until = 0;                     // the end of the simulated futures
  std::optional<ForecastTimes> start{};  // unset for jobs that run
  std::optional<ForecastTimes> end{};    // unset if no future gives the job any GPUs
};

struct JobStatus {
  std::string id{};
  std::string name{};   // by which its user knows it
  std::string title{};  // as its user wrote it; need not be unique, may be empty
  std::string user{};
  std::string model{};
  JobStage stage = JobStage::kWaiting;
  std::optional<std::string> reason{};  // why it does not run as decided, or may not be changed
  GpuCount allocated_gpus = 0;          // by the last decision
  GpuCount worker_gpus = 0;             // occupied by its workers now
  GpuCount requested_gpus = 0;
  GpuCount min_gpus = 0;
  GpuCount max_gpus = 0;
  std::optional<std::string> gpu_type{};        // set while it has GPUs allocated
  std::optional<std::string> accepted_types{};  // "a100|v100"; unset: any
  std::optional<std::string> limits{};          // why it may run on some nodes only
  ByName<double> rates{};                       // at its requested GPUs, as believed now
  ByName<GpuCount> nodes{};                     // allocated by the last decision
  std::int64_t epoch = 0;
  std::int64_t step = 0;
  double work = 0;
  std::optional<double> total_work{};
  std::optional<double> rate{};
  std::optional<double> loss{};
  std::optional<double> noise_scale{};
  std::optional<BatchStatus> batch{};
  std::optional<std::string> plan{};  // by which its program splits its GPUs (docs/plans.md)
  Seconds age = 0;                    // since it was submitted
  std::optional<Seconds> waited{};    // since it has had no GPUs; unset while it has some
  double gpu_seconds = 0;
  std::int32_t changes = 0;
  std::optional<ForecastStatus> forecast{};

  // The part of its work that is done; unset if its total is unknown.
  std::optional<double> done() const {
    if (!(total_work.value_or(0) > 0)) return std::nullopt;
    return work / *total_work;
  }
};

struct ShadowStatus {
  std::string policy{};
  std::int64_t decisions = 0;  // legal ones
  std::int64_t failed = 0;
  std::optional<double> agreement{};  // part of the allocated GPUs; unset before the first one
  bool asked = true;                  // false: it was too slow, or could not begin
};

struct DaemonStatus {
  Seconds now = 0;
  double written_at = 0;               // Unix time
  std::optional<double> polled_at{};   // Unix time of the runtime's latest answer
  std::optional<double> decided_at{};  // Unix time of the latest decision
  Seconds interval = 0;
  std::string runtime{};
  std::optional<std::string> trouble{};  // why the runtime cannot be polled now
  std::optional<std::string> warning{};  // what is to be corrected in the cluster's settings
  std::string policy{};
  std::optional<std::string> rules{};  // file of the operator's rules
  bool fair_shares = true;             // users have them
  std::int64_t corrected = 0;          // decisions, for guarantees and fair shares
  bool paused = false;
  bool drained = false;  // no job begins
  std::int64_t finished = 0;
  std::int64_t more_jobs = 0;  // that the cluster will show later: tasks of arrays
  std::int64_t decisions = 0;
  double decision_us = 0;  // microseconds that the latest decision took
  std::int64_t resizes = 0;
  Seconds last_resize = 0;
  std::int64_t workers_failed = 0;
  std::vector<NodeStatus> nodes{};
  std::optional<ShadowStatus> shadow{};
  std::vector<JobStatus> jobs{};  // that are not over or still have workers, by time of submission
};

}  // namespace allot
