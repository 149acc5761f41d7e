#pragma once
// A job as the daemon knows it, in three parts: what its user asks for, what decisions allocate,
// and what the runtime shows. JobTable owns all jobs and writes them; all others have them const.
// They change a job by a record (StateWriter), or, where the journal need not know, by a function
// of JobTable.

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/job_record.h"
#include "cluster/observation.h"
#include "live/runtimes/runtime.h"
#include "live/workers/worker_group.h"
#include "perf/rate_fit.h"
#include "perf/training_estimate.h"
#include "rules/change_history.h"
#include "rules/gpu_usage.h"
#include "rules/operator_rules.h"

namespace allot {

// Set when the job is added.
struct AskedJob {
  // Follows the runtime, mostly as its own object (RuntimeSnapshot::jobs). Never null.
  std::shared_ptr<const RuntimeJob> asked;
  JobIndex index = 0;
  Seconds submit = 0;  // of the run; rises with the index
  Seconds deadline = kNever;
  std::int32_t tenant = 0;
  std::int32_t user = 0;
  std::int32_t alike = 0;  // Observation::group: jobs of one model have the same
  Submitter submitter;     // whose GPU time it uses
  JobRules rules;          // of the operator
};

// What decisions may allocate, and what the last one did.
struct AllocatedJob {
  std::shared_ptr<const ConfigurationTable> table;
  bool table_is_new = false;         // since the last decision
  std::optional<std::string> unfit;  // why no GPU type that it accepts can hold the job, for people
  // What is wrong with the job, as its user was informed; empty: nothing, unset: not yet.
  std::optional<std::string> explained;
  std::optional<GpuCount> most;       // GPUs that limits leave it now (live/port/limited_sizes.h)
  std::optional<std::string> beyond;  // the limit that has no room for the job while it waits
  std::vector<GpuCount> tolerated;    // sizes that it has had since before a rule forbade them
  std::int32_t requested = 0;         // row of the table
  std::int32_t running = -1;          // row of the table; -1: the job waits
  std::vector<NodeShare> shares;
  std::optional<std::string> plan;  // by which its program splits them (ALLOT_PLAN)
  std::int32_t changes = 0;
  Seconds waiting_since = 0;
  std::optional<Seconds> changing_since;  // until the job trains as decided
  ChangeHistory history;
  Pin pin;  // the rule that pins it now
};

// What the runtime shows and what is measured from it.
struct SeenJob {
  WorkerGroup worker_group;
  JobProgress progress;
  RateFit fit{nullptr};
  std::unique_ptr<TrainingEstimate> training;  // null unless its batch follows its workers
  double attained_gpu_seconds = 0;
  Seconds attained_seconds = 0;
  std::optional<Seconds> stretch_since;  // of the present undisturbed training: it measures rates
  double stretch_work = 0;
  JobRecord record;
  bool over = false;
  Seconds ended = kNever;       // when it was over
  Seconds run_time = kUnknown;  // once it is over: JobTable::RunTime
};

struct LiveJob : AskedJob, AllocatedJob, SeenJob {
  bool fits() const { return !unfit; }
  GpuCount most_now() const {
    return std::max(asked->min_gpus, std::min(asked->max_gpus, most.value_or(asked->max_gpus)));
  }
  // GPUs that it asks for. Unset: as many as it requested. A user who states no number beside the
  // limits of the job asks for as many as it can have.
  std::optional<GpuCount> asks() const {
    const bool stated = asked->requested > asked->min_gpus;
    return stated ? std::nullopt : std::optional(most_now());
  }
  GpuCount given() const {  // by the last decision
    GpuCount gpus = 0;
    for (const NodeShare& share : shares) gpus += std::popcount(share.gpus);
    return gpus;
  }
  JobStage stage() const;
  // It runs, and its user did not agree to an end before its own: nothing is done to it.
  bool pinned() const;
  bool fixed() const { return pinned() || (pin && !over); }  // no decision changes it now
};

}  // namespace allot
