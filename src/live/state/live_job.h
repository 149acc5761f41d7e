#pragma once
// A job as the daemon knows it: what its user asked for, what the last decision gave, and how far
// it is. JobTable owns them and makes their tables; the parts of LiveCluster read them, and set
// what is said here to be theirs.

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/change_history.h"
#include "cluster/job_record.h"
#include "cluster/observation.h"
#include "cluster/operator_rules.h"
#include "live/runtimes/runtime.h"
#include "live/workers/worker_group.h"
#include "perf/rate_fit.h"
#include "perf/training_estimate.h"

namespace allot {

struct LiveJob {
  // Mostly the runtime's own record (RuntimeSnapshot::jobs). Never null.
  std::shared_ptr<const RuntimeJob> asked;
  JobIndex index = 0;
  Seconds submit = 0;  // of the run; rises with the index
  Seconds deadline = kNever;
  std::int32_t tenant = -1;
  std::int32_t user = -1;
  std::int32_t alike = -1;  // Observation::group: jobs of one model are
  bool over = false;
  Seconds ended = kNever;           // when it was over
  Seconds run_time = kUnknown;      // measured, once it is over: JobTable::RunTime
  JobRules rules;                   // of the operator
  std::vector<GpuCount> tolerated;  // sizes that it holds since before a rule
  bool fits = true;                 // some GPU type that it accepts can hold it
  std::string unfit;                // else why none can, for people
  std::optional<std::string> told;  // what is wrong with it, as its user was told by the runtime
  GpuCount most = kNoLimit;         // GPUs that it may have now (limited_sizes.h)
  std::string beyond;               // it waits, as a limit has no room for it: which, for people

  // What the last decision gave.
  std::shared_ptr<const ConfigurationTable> table;
  bool table_is_new = false;  // not told yet: made anew since the last decision
  std::int32_t requested = 0;
  std::int32_t running = -1;
  std::vector<NodeShare> shares;
  std::int32_t changes = 0;
  Seconds waiting_since = 0;
  Seconds changing_since = kNever;  // decided, and does not train so yet; kNever: does

  ChangeHistory history;  // of what decisions gave
  Hold hold;              // the rule that holds it as it is now: LiveCluster

  // What the runtime shows.
  WorkerGroup worker_group;
  JobProgress progress;
  RateFit fit{nullptr};
  std::unique_ptr<TrainingEstimate> training;  // of a job whose batch follows its workers, or null
  double attained_gpu_seconds = 0;
  Seconds attained_seconds = 0;
  // The present undisturbed stretch of training, for measuring rates; kNever: none.
  Seconds stretch_since = kNever;
  double stretch_work = 0;
  JobRecord record;

  GpuCount most_now() const {
    return most == kNoLimit ? asked->max_gpus
                            : std::max(asked->min_gpus, std::min(asked->max_gpus, most));
  }
  GpuCount given() const {  // by the last decision
    GpuCount gpus = 0;
    for (const NodeShare& share : shares) gpus += std::popcount(share.gpus);
    return gpus;
  }
  void SetState(JobState state);  // of what it asked
  JobStage stage() const;
  // It runs, and its user did not agree to an end before its own: nothing is done to it.
  bool pinned() const;
  bool fixed() const { return pinned() || (hold && !over); }  // no decision changes it now
};

}  // namespace allot
