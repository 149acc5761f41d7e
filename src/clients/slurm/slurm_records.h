#pragma once
// What Slurm knows of jobs, nodes and settings, in one form for all its releases: each back end
// reads these (slurm_back_end.h).

#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clients/slurm/node_state.h"
#include "clients/slurm/slurm_limits.h"

namespace allot {

inline constexpr std::uint32_t kNoTimeLimit = 0xffffffff;
// Of a job's memory: it is for each CPU, not for a node.
inline constexpr std::uint64_t kMemoryPerCpu = 0x8000000000000000;

// What a job does, or how it ended, as a runtime asks it (job_state.h has all that Slurm calls a
// state).
enum class SlurmState : std::uint8_t {
  kPending,
  kRunning,  // or suspended, or completing
  kCompleted,
  kCancelled,  // by somebody, or preempted
  kFailed,
};

// Slurm's own word where a job waits without a reason.
inline constexpr const char* kNoReason = "None";

struct SlurmJob {
  std::uint32_t id = 0;
  std::uint32_t user_id = 0;
  std::uint32_t group_id = 0;
  std::string user;
  std::string name;
  std::string partition;
  std::string comment;
  std::string admin_comment;  // only the daemon can write it
  std::string gpus;           // as asked for, a node: "gres:gpu:2"; "": none
  std::string other_gpus;     // the same, otherwise: a job, a task or a socket
  std::string tres;   // asked for in all: "cpu=8,gres/gpu=4"; GPUs only where the site counts them
  std::string nodes;  // allocated
  std::map<std::string, std::string> gpus_on;  // the same by node: "gpu:v100:2(IDX:0-1)"
  std::string work_dir;
  std::string account;
  std::string qos;
  SlurmState state = SlurmState::kPending;
  bool completing = false;    // ended or requeued, and still holds what it was given
  bool ended = false;         // for good, though it may be completing
  bool on_hold = false;       // by its user or an administrator
  std::uint32_t array = 0;    // the number that users know its array by; 0: of none
  std::int64_t task = -1;     // of the array; -1: it stands for several
  std::string tasks;          // those that it stands for: "0-2,4%2"; "": itself
  std::uint32_t at_most = 0;  // tasks of the array that may run at a time; 0: all
  bool part = false;          // of a heterogeneous job
  bool in_reservation = false;
  bool exclusive = false;  // wants nodes for itself or its user alone
  std::string waits;       // for something that is not ours to give: begin time, dependency
  std::string reason;      // of its end, for people
  // kPending: Slurm's reason ("Resources", "QOSMaxGRESPerUser"), or kNoReason; else "".
  std::string pending;
  bool elsewhere = true;   // `pending`: on other nodes it may begin
  std::time_t submit = 0;  // anew at a requeue
  std::time_t start = 0;   // kRunning: since when
  std::time_t deadline = 0;
  std::uint32_t time_limit = 0;  // minutes, or kNoTimeLimit
  std::uint32_t nodes_asked = 1;
  std::string constraint;                   // "nvlink&(a100|h100)"; "": none
  std::vector<std::string> excluded_nodes;  // of which it wants none
  std::uint32_t cpus = 1;                   // asked for in all, at least
  std::uint32_t cpus_per_node = 1;          // the same
  std::uint16_t cpus_per_task = 0;
  std::uint64_t memory = 0;       // as asked for, MiB; kMemoryPerCpu
  std::uint64_t memory_held = 0;  // allocated on all of its nodes, MiB
  bool requeue = true;
  double nice = 0;
  std::uint32_t priority = 0;  // Slurm's own; 0: held

  // As people call it: "42", "10_2".
  std::string known_as() const {
    return task < 0 ? std::to_string(id) : std::to_string(array) + "_" + std::to_string(task);
  }
  // Holds nothing any more, and will not run again.
  bool over() const {
    return state != SlurmState::kPending && state != SlurmState::kRunning && !completing;
  }
  bool operator==(const SlurmJob&) const = default;
};

// A record that did not change from one look to the next is the same one (shared_jobs.h).
using SlurmJobs = std::vector<std::shared_ptr<const SlurmJob>>;

struct SlurmNode {
  std::string name;
  std::string gres;  // "gpu:v100:4(S:0)"
  std::vector<std::string> partitions;
  std::vector<std::string> features;  // that it has now
  int cpus = 0;
  int cpus_in_use = 0;                              // by any job
  std::uint64_t memory_mib = 0, memory_in_use = 0;  // all; allocated to any job
  SlurmNodeState state;
  std::string state_text{};  // as JSON has it, "IDLE+DRAIN", for people; libslurm sets none
  bool reserved = false;     // as a whole, for somebody, now
  int cpus_reserved = 0, gpus_reserved = 0;  // where it is not reserved as a whole
  std::optional<std::pair<std::time_t, std::time_t>> next_reserved{};  // as a whole: from, until
};

// What the scheduler does about the memory of jobs in a partition.
enum class SlurmMemory : std::uint8_t {
  kNotCounted,   // nothing: jobs share the memory of their nodes
  kByDefault,    // it allocates memory; a job that asks for none gets the site's default
  kWholeByNone,  // it allocates memory; a job that asks for none gets all of its nodes
};

struct SlurmPartition {
  std::string name;
  bool up = true;  // begins jobs
  SlurmMemory memory = SlurmMemory::kNotCounted;
};

// What an administrator has set, and which versions meet.
struct SlurmSettings {
  std::string version;    // of the controller
  std::string library{};  // of libslurm, or of Slurm's programs
  std::string api{};      // "libslurm", "commands"
  std::string address{};  // of the controller, for others
  std::uint32_t user_id = 0;
  std::string user;       // SlurmUser
  std::string scheduler;  // "sched/backfill"
  std::string scheduler_parameters;
  std::string select;  // "select/cons_tres"
  std::string job_submit;
  std::string accounting;  // "accounting_storage/none"
  std::string state_folder;
  std::string priority;                // "priority/multifactor"
  std::uint64_t priority_weights = 0;  // the sum of PriorityWeight*, without TRES
  bool requeue = true;
  bool appends_output = true;                     // JobFileAppend: of a job that runs again
  Seconds kill_wait = 30;                         // from SIGTERM to SIGKILL
  bool enforces_limits = false;                   // of associations and QOS
  SlurmMemory memory = SlurmMemory::kNotCounted;  // in partitions that have no default of their own
  std::vector<SlurmPartition> partitions;
};

struct SlurmSnapshot {
  std::vector<SlurmNode> nodes;
  SlurmJobs jobs;
  double cpu_elsewhere = 0;  // seconds of a core that the look took in another thread
  // Both may be kSettingsEvery old:
  SlurmLimits limits;
  std::vector<SlurmPartition> partitions;
};

}  // namespace allot
