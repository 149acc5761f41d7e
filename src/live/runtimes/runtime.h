#pragma once
// The seam below the daemon: what starts and stops the processes of jobs on real machines. A
// runtime knows nodes, jobs and workers. It knows no policy, no configuration and no resize.
// LiveCluster and its parts (live/port/live_cluster.h) are the only callers, from one thread. A new
// runtime is one file src/live/<name>/<name>_runtime.cc that registers a RuntimeInfo, and passes
// the suite in tests/unit/live_runtimes.
//
// A job runs as workers. A worker is one process, or process group, on one node with GPUs of that
// node. The members of a job are the workers that train together. They change only when the next
// epoch is announced. Every call may be repeated: the daemon asks again for what it does not know
// to have happened. How the end of a worker counts: live/runtimes/worker_end.h.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cluster/cluster_spec.h"
#include "core/error.h"
#include "core/params.h"
#include "core/registry.h"
#include "core/types.h"
#include "live/runtimes/batch_report.h"
#include "live/runtimes/runtime_job.h"

namespace allot {

// GPUs of one type on one machine. A machine with GPUs of several types is shown as a node of each.
struct RuntimeNode {
  std::string name;
  std::string gpu_type = "gpu";  // as the runtime names it
  Resources capacity;            // at most kMaxGpusPerNode GPUs
  bool up = true;  // false: drained or down; nothing is to be started there, and what runs there
                   // is to leave
  bool drained = false;  // !up: an administrator of the cluster wants it so, and it lives
  GpuCount taken = 0;    // GPUs of it that others hold or may claim: not the daemon's to give
};

enum class WorkerState : std::uint8_t {
  kStarting,  // asked for, kCount: or being replaced; holds its GPUs
  kReady,     // its process has joined: it waits for an epoch or is a member of one
  kEnded,     // holds nothing any more
};

struct RuntimeWorker {
  std::string id;  // as the daemon named it
  std::string job;
  std::string node;        // kCount: where it really is; "": not known yet
  std::uint64_t gpus = 0;  // as given to Start, also where GPUs cannot be chosen by number (Slurm)
  WorkerState state = WorkerState::kStarting;
  bool failed = false;  // kEnded: counts against the job (live/runtimes/worker_end.h)
  std::string reason;   // kEnded: exit code or signal, for people
  Seconds silent = 0;   // since it was last heard of, or expected; 0 where the runtime cannot tell
  bool preparing = false;   // kStarting: its machine fetches what it needs; it is not late
  std::string waits{};      // kStarting: why the cluster has not begun with it, in words of its own
                            // ("Resources"), or kNoWord; "": it has
  std::string detail{};     // of `waits`: the cluster's sentence on it, for people; "": none
  bool elsewhere = true;    // `waits`: on other nodes it may begin; false: a limit of its user's
  double began = kUnknown;  // Unix time since which it holds its GPUs, where the runtime knows it
};

// The cluster's scheduler has not looked at it yet, or is away: no reason to try other nodes.
inline constexpr const char* kNoWord = "no word of the cluster's scheduler";

// GPUs that several jobs may have together (RuntimeJob::limited_by).
struct SharedLimit {
  std::string name;   // for people: "account vision (GrpTRES)"
  GpuCount gpus = 0;  // without those that jobs of others have of it; < 0: they have too many

  friend bool operator==(const SharedLimit&, const SharedLimit&) = default;
};

// One consistent snapshot: a job whose workers have all ended with success is kFinished in the same
// one that shows them kEnded. A job that is over stays listed until Forget, or as long as it is
// known. A job that is no longer listed counts as cancelled, a worker as ended.
struct RuntimeSnapshot {
  std::vector<RuntimeNode> nodes;  // always in the same order; a node never leaves, it goes down
  // Any order. A record that is the same object as in a snapshot before says the same.
  std::vector<std::shared_ptr<const RuntimeJob>> jobs;
  std::vector<RuntimeWorker> workers;
  std::vector<SharedLimit> limits{};
  bool more = false;  // jobs are known that will come later by themselves
};

// What a job reported last. What it never reported has the value given here.
struct JobProgress {
  std::int64_t epoch = -1;  // the highest that all its members have reached (trained in)
  bool broken = false;      // members of that epoch report that they can no longer train together
  std::int64_t step = 0;    // training steps, of the whole job
  double work = 0;          // done, in the job's unit (samples)
  double rate = kUnknown;   // work per second at `epoch`, measured without pauses
  double total_work = kUnknown;   // as the program says
  double saved_work = 0;          // that the last checkpoint holds
  double noise_scale = kUnknown;  // of the gradient
  double loss = kUnknown;         // for people
  BatchReport batch{};
};

struct WorkerRequest {
  std::string worker;  // unique for ever, "<job>.<number>"; asked for twice it is started once
  std::string node;
  std::uint64_t gpus = 0;  // of this node, never 0
};

// An epoch of a job. Rank r is members[r]. Members of the epoch before come first, in their old
// order, so that rank 0 has the training state. If there are none, rank 0 restores the last
// checkpoint. A worker that is no longer a member ends by itself, with exit code 0.
struct Membership {
  std::int64_t epoch = 0;  // 0, 1, ... within the life of the job, restarts included
  std::vector<std::string> members;
};

// What is wrong with a job.
struct JobTrouble {
  std::string why{};        // for people; "": nothing is
  bool holds_gpus = false;  // which are idle; false: it fits nowhere
};

enum class StopMode : std::uint8_t {
  kSave,  // asked to write a checkpoint and end; ended by force after the runtime's grace period
  kKill,  // at once
};

class Runtime {
 public:
  virtual ~Runtime() = default;

  // RunError when the machines cannot be asked: the daemon changes nothing and asks again.
  virtual RuntimeSnapshot TakeSnapshot() = 0;

  // Starts these workers of the job, all or none. For a kHot job each has one GPU and waits, once
  // kReady, for an epoch that it is a member of; for a kRestart job they are all of its workers, in
  // rank order. Of a kCount job the nodes are wishes. Refused: the reason; none was started.
  virtual Status Start(const std::string& job, std::span<const WorkerRequest> workers) = 0;

  // Returns at once; the worker is kEnded some time later. Of a worker that is gone: Ok.
  virtual Status Stop(const std::string& worker, StopMode mode) = 0;

  // kHot jobs only. Tells all workers of the job, also those that join later. A job has one latest
  // epoch; announcing it again changes nothing, announcing an earlier one is refused.
  virtual Status Announce(const std::string& job, const Membership& membership) = 0;

  // kHot jobs that report a batch only. Tells all workers of the job, also those that join later.
  virtual Status SetBatch(const std::string& job, const WorkerBatchOrder& /*batch*/) {
    return Status::Refused("the runtime cannot tell job '{}' its batch", job);
  }

  // Default values where nothing was reported. After a restart of the daemon, the epoch is at least
  // what the runtime or the workers still know.
  virtual JobProgress Progress(const std::string& job) = 0;

  // The daemon gives a job up, because its workers always fail: it becomes kFailed.
  virtual Status Fail(const std::string& job, const std::string& reason) = 0;

  // So that its user may be told. Said once, and again when it changes.
  virtual void Explain(const std::string& /*job*/, const JobTrouble& /*trouble*/) {}

  // By its user: it becomes kCancelled. Refused where jobs are cancelled by another program.
  virtual Status Cancel(const std::string& job) {
    return Status::Refused("job '{}' is cancelled by the runtime's own means", job);
  }

  // The end of this job is written down: it need not be listed again.
  virtual void Forget(const std::string& job) = 0;

  // Serves its workers' connections until something may have changed or `at_most` is over.
  virtual void Wait(Seconds at_most) = 0;
  // From any thread: somebody asks the daemon, Wait returns soon.
  virtual void Wake() {}
};

struct RuntimeOptions {
  std::filesystem::path state;  // the daemon's files, absolute, mode 0700; own ones in state/<id>
  bool dry_run = false;         // looks only: nothing is to be written to the machines
  bool standby =
      false;  // waits, while it is made, until no other daemon is in charge of the machines
  // Meanwhile it is told for whom or what, whenever that changes. Any thread.
  std::function<void(const std::string& why)> on_wait{};
};

struct RuntimeInfo {
  std::string id;
  std::string summary;
  std::vector<ParamSpec> params{};  // "local:cluster=2x4"
  std::function<std::unique_ptr<Runtime>(const Params&, const RuntimeOptions&)> make;
};

// "local" or "local:cluster=2x4,spool=DIR". UsageError with did-you-mean.
std::unique_ptr<Runtime> MakeRuntime(std::string_view spec, const RuntimeOptions& options);

}  // namespace allot
