#pragma once
// The seam below the daemon: a runtime starts and stops the processes of jobs on real machines. It
// knows nodes, jobs and workers, but no policy and no configuration. LiveCluster and its parts are
// the only callers. A new runtime registers a RuntimeInfo and passes the suite in
// tests/unit/live/runtimes.
//
// A job runs as workers. A worker is one process, or process group, with GPUs of one node. The
// workers of a hot job (ResizeMode) train in epochs: the members of an epoch train together until
// the next epoch is announced. live/runtimes/worker_end.h decides how the end of a worker counts.
//
// Contract of all functions: one thread calls them, except Wake. Every call may be repeated,
// because the daemon repeats a call whose outcome it does not know. A refused Status means that
// nothing was done, and why. A RunError means that the machines cannot be reached: the daemon
// changes nothing and tries again.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/params.h"
#include "core/registry.h"
#include "core/types.h"
#include "live/runtimes/batch_report.h"
#include "live/runtimes/runtime_snapshot.h"

namespace allot {

// What a job reported last; defaults stand for what it never reported.
struct JobProgress {
  std::int64_t epoch = -1;  // the highest that all its members have trained in
  bool broken = false;      // members of that epoch report that they cannot train together
  std::int64_t step = 0;    // training steps of the whole job
  double work = 0;          // done, in the job's unit (samples)
  double rate = kUnknown;   // work per second in `epoch`, without pauses
  double total_work = kUnknown;
  double saved_work = 0;          // work that the last checkpoint has
  Seconds save_seconds = 0;       // that it took to write; 0: not known
  double noise_scale = kUnknown;  // of the gradient, in samples
  double loss = kUnknown;         // for people
  BatchReport batch{};
};

struct WorkerRequest {
  std::string worker;  // "<job>.<number>", never used again
  std::string node;
  std::uint64_t gpus = 0;  // a bit for each GPU of the node; never 0
  // Of a restart job whose throughput model says how its GPUs are split: what all its workers, or
  // its script, are to get as ALLOT_PLAN.
  std::optional<std::string> plan{};
};

// An epoch of a job; rank r is members[r]. Members of the epoch before come first, in their old
// order, so that rank 0 has the training state; without any, rank 0 restores the last checkpoint. A
// worker that is left out ends by itself, with exit code 0.
struct Membership {
  std::int64_t epoch = 0;  // 0, 1, ... in the life of the job, restarts included
  std::vector<std::string> members;
};

struct JobTrouble {
  std::string why;          // for people
  bool holds_gpus = false;  // the job has GPUs that are idle; otherwise it fits nowhere
};

enum class StopMode : std::uint8_t {
  kSave,  // it writes a checkpoint and ends; after the runtime's grace period it is ended by force
  kKill,  // it ends at once
};

class Runtime {
 public:
  virtual ~Runtime() = default;

  // ---- what is ----

  // RunError unless the machines answer. O(jobs + workers).
  virtual RuntimeSnapshot TakeSnapshot() = 0;

  // After a restart of the daemon, the epoch is at least what the runtime or the workers know.
  virtual JobProgress Progress(const std::string& job) = 0;

  // ---- workers ----

  // Starts all of these workers or none; a worker that was started before counts as started. Each
  // worker of a hot job has one GPU and waits for an epoch with it. Those of a restart job are all
  // that it has, in rank order. For a counted job the node is only a preference.
  virtual Status Start(const std::string& job, std::span<const WorkerRequest> workers) = 0;

  // Returns at once; a later snapshot shows the worker ended. Ok for a worker that is gone.
  virtual Status Stop(const std::string& worker, StopMode mode) = 0;

  // Hot jobs only: announces the epoch to all workers of the job, also to those that join later.
  // Repeating the latest epoch changes nothing; an earlier one is refused.
  virtual Status Announce(const std::string& job, const Membership& membership) = 0;

  // Hot jobs that report a batch only: sends the batch to all workers, also to those that join
  // later. Optional.
  virtual Status SetBatch(const std::string& job, const WorkerBatchOrder& /*batch*/) {
    return Status::Refused("this runtime sends no batches: job '{}'", job);
  }

  // Hot jobs only: sends to all workers, also to those that join later, how long to train between
  // two checkpoints; workers that start later find it in ALLOT_CHECKPOINT_EVERY, too. Optional.
  virtual Status SetCheckpointEvery(const std::string& job, Seconds /*every*/) {
    return Status::Refused("this runtime gives no advice on checkpoints: job '{}'", job);
  }

  // ---- jobs ----

  // The daemon gives the job up, because its workers always fail: it becomes kFailed.
  virtual Status Fail(const std::string& job, const std::string& reason) = 0;

  // The job's user cancels it: it becomes kCancelled. Optional: refused where another program
  // cancels jobs.
  virtual Status Cancel(const std::string& job) {
    return Status::Refused("job '{}' is cancelled by the runtime's own means", job);
  }

  // Shows the job's user what is wrong with the job, or that nothing is any more. Called when that
  // changes. Optional.
  virtual void Explain(const std::string& /*job*/, const std::optional<JobTrouble>& /*trouble*/) {}

  // The end of this job is in the journal: the runtime need not list it again.
  virtual void Forget(const std::string& job) = 0;

  // ---- the past ----

  // Nodes that failed before the daemon knew them, by the daemon's names, as far as the machines'
  // scheduler remembers. A daemon with an empty journal asks once, after its first snapshot.
  // Refused where nobody knows, and why. Optional.
  virtual Status LoadPastOutages(std::vector<PastOutage>* /*outages*/) { return Status::Ok(); }

  // ---- time ----

  // Serves connections of workers until something may have changed, at most for `at_most` seconds.
  virtual void Wait(Seconds at_most) = 0;
  // Ends Wait soon, because somebody asks the daemon. Any thread. Optional.
  virtual void Wake() {}
};

struct RuntimeOptions {
  std::filesystem::path state;  // the daemon's folder, absolute, mode 0700; a runtime uses state/ID
  bool dry_run = false;         // the runtime reads only and writes nothing to the machines
  bool standby = false;         // while it is made, it waits until no other daemon is in charge
  // `standby`: called whenever it waits for another daemon or another reason. Any thread.
  std::function<void(const std::string& why)> on_wait{};
};

struct RuntimeInfo {
  std::string id;
  std::string summary;
  std::vector<ParamSpec> params{};  // "local:cluster=2x4"
  std::function<std::unique_ptr<Runtime>(const Params&, const RuntimeOptions&)> make;
};

// "local" or "local:cluster=2x4,spool=DIR". UsageError with a suggestion.
std::unique_ptr<Runtime> MakeRuntime(std::string_view spec, const RuntimeOptions& options);

}  // namespace allot
