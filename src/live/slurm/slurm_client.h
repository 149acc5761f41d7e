#pragma once
// Slurm's controller, asked and told through libslurm from a thread of its own: a controller that
// does not answer blocks that thread (for nine seconds a call) and never the daemon, which is told
// so at the deadline of each call. The Slurm runtime is the only caller, from one thread.

#include <cstdint>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/types.h"

namespace allot {

enum class SlurmState : std::uint8_t {
  kPending,
  kRunning,  // or suspended
  kCompleted,
  kCancelled,
  kFailed,
};

struct SlurmJob {
  std::uint32_t id = 0;
  std::uint32_t user_id = 0;
  std::uint32_t group_id = 0;
  std::string user;
  std::string name;
  std::string partition;
  std::string comment;
  std::string admin_comment;                   // only the daemon can write it
  std::string gpus;                            // as asked for, a node: "gres:gpu:2"; "": none
  std::string other_gpus;                      // the same, otherwise: a job, a task or a socket
  std::string nodes;                           // allocated
  std::map<std::string, std::string> gpus_on;  // the same by node: "gpu:v100:2(IDX:0-1)"
  std::string work_dir;
  std::string account;
  std::string qos;
  SlurmState state = SlurmState::kPending;
  bool completing = false;  // ended or requeued, and still holds what it was given
  bool ended = false;       // for good, though it may be completing
  bool held = false;
  std::uint32_t array = 0;    // the number that users know its array by; 0: of none
  std::int64_t task = -1;     // of the array; -1: it stands for several
  std::string tasks;          // those that it stands for: "0-2,4%2"; "": itself
  std::uint32_t at_most = 0;  // tasks of the array that may run at a time; 0: all
  bool part = false;          // of a heterogeneous job
  bool exclusive = false;     // wants nodes for itself or its user alone
  std::string waits;          // for something that is not ours to give: begin time, dependency
  std::string reason;         // of its end, for people
  std::string pending;        // kPending: Slurm's word for why ("Resources", "QOSMaxGRESPerUser")
  bool elsewhere = true;      // `pending`: on other nodes it may begin
  std::time_t submit = 0;     // anew at a requeue
  std::time_t deadline = 0;
  std::uint32_t time_limit = 0;  // minutes
  std::uint32_t nodes_asked = 1;
  std::string constraint;                   // "nvlink&(a100|h100)"; "": none
  std::vector<std::string> excluded_nodes;  // of which it wants none
  std::uint32_t cpus = 1;                   // asked for in all, at least
  std::uint32_t cpus_per_node = 1;          // the same
  std::uint16_t cpus_per_task = 0;
  std::uint64_t memory = 0;  // as Slurm encodes it
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
};

struct SlurmNode {
  std::string name;
  std::string gres;  // "gpu:v100:4(S:0)"
  std::vector<std::string> partitions;
  std::vector<std::string> features;  // that it has now
  int cpus = 0;
  int cpus_in_use = 0;  // by any job
  std::uint64_t memory_mib = 0;
  bool up = true;
  bool unknown = false;   // to a controller that was just restarted
  bool reserved = false;  // as a whole, for somebody, now
  int cpus_reserved = 0;  // where it is not reserved as a whole
  int gpus_reserved = 0;
};

struct SlurmPartition {
  std::string name;
  bool up = true;  // begins jobs
};

// What an administrator has set, and which versions meet.
struct SlurmSettings {
  std::string version;  // of the controller
  std::string library;  // ours
  std::uint32_t user_id = 0;
  std::string user;       // SlurmUser
  std::string scheduler;  // "sched/backfill"
  std::string scheduler_parameters;
  std::string select;  // "select/cons_tres"
  std::string job_submit;
  std::string accounting;  // "accounting_storage/none"
  std::string state_folder;
  bool requeue = true;
  std::vector<SlurmPartition> partitions;
};

struct SlurmSnapshot {
  std::vector<SlurmNode> nodes;
  std::vector<SlurmJob> jobs;
};

// A batch job of one task on one node.
struct SlurmSubmission {
  std::uint32_t user_id = 0;
  std::uint32_t group_id = 0;
  std::string name{};
  std::string comment{};  // for the daemon (AdminComment) and for people
  std::string script{};
  std::string partition{};
  std::string node{};
  std::string gres{};  // slurm_tags.h GresRequest
  std::string work_dir{};
  std::string output{};
  std::string account{};
  std::string qos{};
  std::uint32_t time_limit = 0;
  std::uint16_t cpus_per_task = 0;
  std::uint64_t memory = 0;
  std::vector<std::string> environment{};  // "NAME=value"
};

// What is not set stays as it is.
struct SlurmChange {
  std::uint32_t id = 0;
  std::string partition{};
  std::string nodes{};  // exactly these; with `node_count`
  std::uint32_t node_count = 0;
  std::string gres{};  // a node; with the type that the job was submitted with
  std::string admin_comment{};
  bool release = false;
};

class SlurmClient {
 public:
  // RunError when there is no slurm.conf. `read_only`: whatever would change something is refused.
  SlurmClient(Seconds patience, bool read_only);
  ~SlurmClient();
  SlurmClient(const SlurmClient&) = delete;
  SlurmClient& operator=(const SlurmClient&) = delete;

  // RunError when the controller does not answer in time; for its address that is half a minute.
  const SlurmSnapshot& TakeSnapshot();
  std::string ControllerAddress();
  std::string StateFolder();  // of the controller: StateSaveLocation
  SlurmSettings Settings();   // for 'allot doctor'

  // Asked before each change, which is refused with its words.
  void WriteOnlyIf(std::function<Status()> may_act) { may_act_ = std::move(may_act); }

  // Refused with Slurm's words, or because no answer came in time: what was asked for may still
  // happen, and the next snapshot shows it, for calls are made in their order.
  Status Submit(const SlurmSubmission& submission, std::uint32_t* id);
  Status Change(const SlurmChange& change);
  Status Requeue(std::uint32_t id);  // held, once it has ended
  // SlurmJob::known_as(): the number of an array's last task would end all of them. Ok also where
  // there is no such job (any more).
  Status Cancel(const std::string& job);
  // Tasks that a record of an array stands for, "10_[0-3]", become records of their own.
  Status Split(const std::string& tasks, const std::string& partition);

 private:
  struct Thread;
  std::string Configured(std::string (*of)(const void* configuration));
  Status MayWrite() const;

  Seconds patience_;
  bool read_only_;
  std::function<Status()> may_act_;
  SlurmSnapshot snapshot_;
  std::unique_ptr<Thread> thread_;
};

}  // namespace allot
