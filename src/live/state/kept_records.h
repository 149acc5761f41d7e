#pragma once
// Records of a journal that was written anew (Journal::Renew): the state that its earlier records
// had led to. What the runtime shows again is not in them. live/state/records.h has all kinds.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "live/state/job_records.h"
#include "live/workers/worker_group.h"
#include "perf/rate_fit.h"
#include "perf/training_estimate.h"
#include "rules/node_suspicion.h"

namespace allot::record {

using Fit = std::vector<RateFit::PlacedPoint>;

struct Training {
  BatchLimits limits;
  double noise = kUnknown;
  std::vector<TimingFits::SeenTiming> timed;
};

struct Renewed {
  static constexpr Kind kKind = "renewed";
  std::uint64_t archived = 0;  // valid bytes of the archive
};
struct Kept {  // the state of a job that a record "job" named before
  static constexpr Kind kKind = "kept";
  struct KeptWorker {
    Worker worker;
    bool leaving = false;
    bool killed = false;
    Seconds since = 0;
  };
  struct Group {
    std::vector<KeptWorker> workers;
    Membership membership;
    std::int64_t next_number = 0;
    bool restarting = false;
    StartBackoff backoff;
  };
  struct History {
    Seconds last = -kNever;
    std::vector<Seconds> restarts;
    bool lost = false;
  };
  std::string job;
  Allocated allocated;
  std::int32_t changes = 0;
  Seconds waiting_since = 0;
  double gpu_seconds = 0;
  Seconds seconds = 0;
  Seconds first_start = kNever;
  std::int32_t preemptions = 0;
  std::int32_t restarts = 0;
  std::int32_t moves = 0;
  std::int32_t failures = 0;
  Fit fit;
  Group group;
  std::optional<History> history{};  // where a rule of the operator needs it
  std::optional<Training> training{};
};
struct LearnedRates {
  static constexpr Kind kKind = "learned";
  std::string user;
  std::string model;
  Fit fit;
};
struct LearnedTraining {
  static constexpr Kind kKind = "learned";
  std::string key;  // of JobTable::latest_training
  Training training;
};
struct NodeEvidence {  // what starts have shown of a node, of a job, and of a user
  static constexpr Kind kKind = "node evidence";
  TriedNode node;
};
struct JobEvidence {
  static constexpr Kind kKind = "job evidence";
  TriedJob job;
};
struct UserEvidence {
  static constexpr Kind kKind = "user evidence";
  TriedUser user;
};
struct LearnedUsage {
  static constexpr Kind kKind = "usage";
  std::string account;
  std::string user;
  double gpu_seconds = 0;  // decayed
};
struct LearnedWork {
  static constexpr Kind kKind = "work";
  std::string user;
  double stated = 0;  // decayed GPU seconds, as needed
  double needed = 0;
};
struct Counts {
  static constexpr Kind kKind = "counts";
  std::int64_t finished = 0;  // jobs, ever
  Seconds last_submit = 0;
  double node_seconds = 0;  // in which nodes were up, and their failures (NodeFailureRate)
  double node_failures = 0;
  std::optional<Seconds> node_failed_at{};
};

}  // namespace allot::record
