#pragma once
// Records of a journal about one job: what its user asked for, its allocations, its workers, and
// what was measured of it. live/state/records.h has all kinds.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "live/runtimes/runtime.h"
#include "live/workers/worker_group.h"
#include "perf/configuration_key.h"

namespace allot::record {

using Kind = std::string_view;

struct NamedGpus {
  std::string node;
  std::uint64_t gpus = 0;  // a bit for each GPU of the node
};

struct Allocated {
  // Text of its key (ConfigurationTable::KeyText). Unset in journals of the first daemons, which
  // wrote the GPUs only, and for a job that has nothing.
  std::optional<std::string> configuration;
  std::vector<NamedGpus> nodes;
  std::optional<std::string> plan{};  // by which the job's program splits them (ALLOT_PLAN)
};

struct Worker {
  std::string id;
  std::string node;
  std::uint64_t gpus = 0;
};

// ---- jobs ----

struct NewJob {
  static constexpr Kind kKind = "job";
  RuntimeJob asked;
  Seconds submit = 0;
  Seconds deadline = kNever;
  std::string profile{};  // of the catalogue, that its model begins with; empty: the prior
};
struct Give {  // a decision allocates
  static constexpr Kind kKind = "give";
  std::string job;
  Allocated allocated;
  std::string why;
  std::optional<double> time_share{};  // of the configuration, where a sharing decided
  std::optional<Seconds> since{};      // the job has had it since then; unset: since the record
  bool lost = false;                   // it is what is left of a larger allocation
};
struct Placed {  // the runtime chose other nodes for the same configuration
  static constexpr Kind kKind = "placed";
  std::string job;
  Allocated allocated;
  std::string why;
};
struct Take {  // the job loses its allocation
  static constexpr Kind kKind = "take";
  std::string job;
  std::string why{};
};
struct Account {  // service so far
  static constexpr Kind kKind = "account";
  std::string job;
  std::int64_t step = 0;
  double work = 0;
  double gpu_seconds = 0;
  Seconds seconds = 0;
};
struct Over {
  static constexpr Kind kKind = "over";
  struct Report {
    std::string reason;
    std::int64_t step = 0;
    double work = 0;
  };
  std::string job;
  JobState state = JobState::kFinished;
  std::optional<Report> report{};  // unset in a journal that was written anew
  double gpu_seconds = 0;
  Seconds run_time = kUnknown;
};
struct Retire {
  static constexpr Kind kKind = "retire";
  std::string job;
};

// ---- their workers ----

struct Start {
  static constexpr Kind kKind = "start";
  std::string job;
  std::vector<Worker> workers;
};
struct Found {  // the runtime shows workers that no record names
  static constexpr Kind kKind = "found";
  std::string job;
  std::vector<Worker> workers;
};
struct Refused {  // the runtime did not start these workers
  static constexpr Kind kKind = "refused";
  std::string job;
  std::vector<std::string> workers;
  std::string why{};
};
struct Announce {
  static constexpr Kind kKind = "announce";
  std::string job;
  Membership membership;
  std::string why{};
};
struct Stop {
  static constexpr Kind kKind = "stop";
  std::string job;
  std::string worker;
  StopMode mode = StopMode::kSave;
  StopFault fault = StopFault::kNone;
  std::int64_t step = 0;  // of the job
  std::string why{};
};
struct Stays {  // stops of this job's workers are withdrawn
  static constexpr Kind kKind = "stays";
  std::string job;
  std::string why{};
};
struct Gone {
  static constexpr Kind kKind = "gone";
  std::string job;
  std::string worker;
  bool failed = false;
  std::int64_t step = 0;  // of the job
  std::string reason{};
};
struct Succeeded {  // the job's workers made a step, or lived for NodeSuspicion::kProven
  static constexpr Kind kKind = "succeeded";
  std::string job;
};

// ---- what was measured ----

struct Rate {
  static constexpr Kind kKind = "rate";
  std::string job;
  std::string type;
  GpuCount gpus = 0;
  Span span{};
  double rate = 0;  // work per second
};
struct Batch {  // limits of a job whose batch follows its workers, in samples
  static constexpr Kind kKind = "batch";
  std::string job;
  std::int64_t initial = 0;
  std::int64_t most = 0;
  std::int64_t least_local = 1;
  std::int64_t most_local = 0;

  BatchLimits limits() const {
    return {static_cast<double>(initial), static_cast<double>(most),
            static_cast<double>(least_local), static_cast<double>(most_local)};
  }
};
struct Noise {
  static constexpr Kind kKind = "noise";
  std::string job;
  double noise = 0;  // of the gradient, in samples
};
struct Timed {  // a step that was timed
  static constexpr Kind kKind = "timed";
  std::string job;
  std::string type;
  std::int32_t nodes = 0;
  GpuCount gpus = 0;
  std::int64_t local = 0;  // samples on each GPU
  Seconds gradient = 0;    // of one pass
  Seconds iteration = 0;   // of a pass with synchronisation
};

}  // namespace allot::record
