#pragma once
// What a runtime shows of its machines (Runtime::TakeSnapshot): nodes, jobs and workers.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster_spec.h"
#include "core/types.h"
#include "live/runtimes/runtime_job.h"
#include "live/status/states.h"

namespace allot {

// Memory of a machine whose scheduler allocates it.
struct NodeMemory {
  std::uint64_t all = 0;    // MiB
  std::uint64_t taken = 0;  // of these, what others have

  friend bool operator==(const NodeMemory&, const NodeMemory&) = default;
};

// The cluster has announced that it takes a node back. Unix times.
struct NodeRecall {
  double from = 0;
  double until = kNever;      // kNever: nobody has said that it comes back
  bool binds_limits = false;  // the cluster starts nothing there whose time limit is beyond `from`

  friend bool operator==(const NodeRecall&, const NodeRecall&) = default;
};

// GPUs of one type on one machine. A machine with GPUs of several types is one node for each type.
struct RuntimeNode {
  std::string name;
  std::string gpu_type = "gpu";      // the cluster's name of the type
  Resources capacity;                // now: at most kMaxGpusPerNode GPUs, 0 while it has lost all
  NodeState state = NodeState::kUp;  // kUp, kDrained or kDown
  GpuCount taken = 0;   // GPUs that others have or may claim, which the daemon does not give away
  bool closed = false;  // no worker starts there, and those that run there go on
  std::optional<NodeMemory> memory{};  // unset: it is not known, or not allocated
  std::optional<NodeRecall> recall{};  // the next one, or the present one; unset: none is announced

  bool up() const { return state == NodeState::kUp; }
  friend bool operator==(const RuntimeNode&, const RuntimeNode&) = default;
};

// A node was away because it failed. Unix times.
struct PastOutage {
  std::string node;
  double down = 0;
  std::optional<double> up{};  // unset: it has not come back
};

enum class WorkerState : std::uint8_t {
  kStarting,  // it was asked for, or a counted job's pod is being replaced; its GPUs are allocated
  kReady,     // its process has joined; it waits for an epoch or is a member of one
  kEnded,     // it has nothing any more
};

// What keeps the cluster's scheduler from starting a worker.
enum class PendingCause : std::uint8_t {
  kSilent,     // the scheduler is away or has not considered the worker yet
  kNodes,      // other nodes may start it
  kUserLimit,  // a limit of its user or account, which other nodes do not change
};

inline constexpr const char* kSchedulerIsSilent = "no word of the cluster's scheduler";

struct PendingStart {
  PendingCause cause = PendingCause::kSilent;
  std::string reason = kSchedulerIsSilent;  // as the scheduler names it: "Resources"
  std::string detail{};                     // the scheduler's sentence on it; may be empty

  friend bool operator==(const PendingStart&, const PendingStart&) = default;
};

struct RuntimeWorker {
  std::string id;  // as the daemon named it
  std::string job;
  std::string node;        // of a counted job: where it really is, empty while it is nowhere
  std::uint64_t gpus = 0;  // as given to Start, also where a cluster does not choose by number
  WorkerState state = WorkerState::kStarting;
  bool failed = false;  // kEnded: counts against the job
  std::string reason;   // kEnded: exit code or signal, for people
  Seconds silent = 0;   // since it was last heard of, or expected; 0 where the runtime cannot know
  bool preparing = false;  // kStarting: its node fetches what it needs, so that it is not late
  std::optional<PendingStart> pending{};  // kStarting: set until the scheduler has started it
  std::optional<double> began{};  // Unix time since which it has its GPUs, where it is known
};

// A limit on the GPUs that several jobs have together (RuntimeJob::limited_by).
struct SharedLimit {
  std::string name;   // for people: "account vision (GrpTRES)"
  GpuCount gpus = 0;  // what other users of the limit leave; negative where they are above it

  friend bool operator==(const SharedLimit&, const SharedLimit&) = default;
};

// The machines at one moment. The snapshot that first shows a hot job's last worker ended with
// success shows the job finished. A job that is over stays listed until Forget. A job that is no
// longer listed counts as cancelled, a worker as ended.
struct RuntimeSnapshot {
  std::vector<RuntimeNode> nodes;  // in any order; one that is missing is down
  // In any order. The same object as in an earlier snapshot has not changed.
  std::vector<std::shared_ptr<const RuntimeJob>> jobs;
  std::vector<RuntimeWorker> workers;
  std::vector<SharedLimit> limits{};
  std::size_t more = 0;  // jobs that the runtime knows of and that will come by themselves
  // What its administrator should correct in the cluster, for people.
  std::optional<std::string> warning{};
  std::int64_t refused_writes = 0;  // by the cluster's API, since the runtime was made
};

}  // namespace allot
